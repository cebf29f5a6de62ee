//! Questions that wait for their client to come back: since 2026-07-28 they are put by an answer that requires input.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, InputRequest, InputRequiredResult, InputResponses,
};
use serde_json::Value as Json;

use crate::asking::Answered;
use crate::elicit::Elicited;

/// The key of the one question in an answer that requires input.
const KEY: &str = "approval";

/// How many calls may wait for their client to come back with an answer. Of more the oldest is asked anew.
const MOST_OPEN: usize = 32;

/// Questions whose answers come with the same call, made again. What a client sends with it is believed only as far as it
/// names a question that was asked for exactly this call.
#[derive(Default)]
pub(crate) struct OpenQuestions {
    open: Mutex<VecDeque<Open>>,
    hasher: RandomState,
}

struct Open {
    state: String,
    call: u64,
    question: ElicitRequestParams,
    answered: Answered,
}

impl OpenQuestions {
    /// The answer that asks.
    pub(crate) fn ask(
        &self,
        tool: &str,
        arguments: &Json,
        question: ElicitRequestParams,
        answered: Answered,
    ) -> InputRequiredResult {
        let request = InputRequest::Elicitation(ElicitRequest::new(question.clone()));
        // The hasher's keys are random, so nobody can foresee it.
        let state = format!("{:016x}", RandomState::new().hash_one(tool));
        let call = self.fingerprint(tool, arguments);
        let mut open = self.lock();
        if open.len() == MOST_OPEN {
            open.pop_front();
        }
        open.push_back(Open { state: state.clone(), call, question, answered });
        InputRequiredResult::new(Some(BTreeMap::from([(KEY.to_owned(), request)])), Some(state))
    }

    /// What the person has said to the questions of this call so far. Each question is answered once.
    pub(crate) fn answers(
        &self,
        tool: &str,
        arguments: &Json,
        state: Option<&str>,
        responses: Option<InputResponses>,
    ) -> Answered {
        let (Some(state), Some(mut responses)) = (state, responses) else { return Vec::new() };
        let call = self.fingerprint(tool, arguments);
        let found = {
            let mut open = self.lock();
            let place = open.iter().position(|open| open.state == state && open.call == call);
            place.and_then(|place| open.remove(place))
        };
        let (Some(Open { question, mut answered, .. }), Some(response)) = (found, responses.remove(KEY))
        else {
            return Vec::new();
        };
        let said = serde_json::from_value::<ElicitResult>(response);
        answered.push((question, said.map_or(Elicited::Unavailable, Elicited::from)));
        answered
    }

    fn fingerprint(&self, tool: &str, arguments: &Json) -> u64 {
        self.hasher.hash_one((tool, arguments.to_string()))
    }

    // No foreign code runs under the lock, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
