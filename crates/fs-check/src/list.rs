//! The list of all rules, and `conformance!`, which makes tests of it.

use crate::Capability;

/// One rule, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The module of [`rules`](crate::rules) it stands in: a primitive, or a theme.
    pub group: &'static str,
    /// Its function there, and its test.
    pub name: &'static str,
    /// What a ground must declare for the rule to apply.
    pub needs: &'static [Capability],
}

/// Makes one `#[test]` per rule for the ground of a backend: `dsh_fs_check::conformance!(MyGround);`.
///
/// The tests stand in one module per group (`resolve::blank_paths_name_nothing`), beside
/// `declares_its_capabilities`. The crate that calls needs no async runtime of its own.
#[macro_export]
macro_rules! conformance {
    ($ground:ty) => {
        $crate::__each_rule! { __tests [$ground] }
    };
}

/// Gives the list of rules to the macro named first, behind what stands in the brackets.
///
/// `rule: A B;` needs the capabilities `A` and `B`.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_rule {
    ($then:ident [$($arguments:tt)*]) => {
        $crate::$then! {
            [$($arguments)*]
            resolve {
                relative_paths_start_at_cwd;
                without_cwd_paths_start_at_the_backends_folder;
                dot_dot_ends_at_the_top;
                spellings_of_one_path_share_a_key;
                different_names_have_different_keys;
                display_path_is_absolute;
                keys_are_stable_across_creation;
                targets_do_not_age;
                blank_paths_name_nothing;
                nul_in_a_path_names_nothing;
                nothing_lies_below_a_file;
                a_path_below_a_file_is_refused: LooksAbove;
                trailing_slash_names_a_folder;
                links_share_the_key_of_their_target: Links;
                dangling_links_mean_their_destination: Links;
                dot_dot_is_folded_before_links: Links;
                link_circles_are_refused: Links;
                folders_contain_what_is_below_them;
                file_urls_are_percent_encoded;
                process_paths_are_absolute: ProcessPaths;
                process_paths_are_canonical: ProcessPaths Links;
            }
            stat {
                a_file_has_kind_and_size;
                a_folder_is_a_folder;
                what_is_absent_is_none;
                below_what_became_a_file_is_absent;
                every_look_is_new;
                lstat_takes_paths_as_resolve_does;
                lstat_shows_the_link_itself: Links;
                special_files_are_other: SpecialFiles;
            }
            read_text {
                text_is_shown_as_it_is;
                the_byte_order_mark_is_not_text;
                what_is_not_text_is_refused;
                only_an_early_nul_makes_binary;
                a_large_text_comes_back_whole;
                a_refused_read_licenses_a_replace;
                a_refused_read_goes_stale;
                what_is_absent_cannot_be_read;
                a_folder_cannot_be_read;
                a_special_file_cannot_be_read: SpecialFiles;
                links_are_read_through: Links;
            }
            stream_text {
                a_stream_equals_a_read;
                a_large_stream_equals_a_read;
                a_stream_refuses_what_is_not_text;
                a_stream_refuses_a_late_fault;
                a_stream_allows_a_late_nul;
                only_files_stream;
                special_files_do_not_stream: SpecialFiles;
                the_end_knows_the_version;
                chunks_say_where_they_stand;
                a_stream_can_be_dropped;
                a_resumed_stream_is_right_or_changed;
                a_changed_file_does_not_resume;
                a_missing_file_does_not_resume;
                a_strange_token_does_not_resume;
            }
            read_bytes {
                bytes_come_back_as_they_are;
                the_limit_is_inclusive;
                the_limit_may_be_huge;
                a_large_file_comes_back_whole;
                the_version_is_that_of_the_bytes;
                only_files_have_bytes;
                special_files_have_no_bytes: SpecialFiles;
            }
            list_dir {
                children_come_in_byte_order;
                only_direct_children_are_listed;
                entries_have_kind_and_size;
                entries_are_targets;
                entry_versions_go_stale;
                an_empty_folder_lists_nothing: EmptyFolders;
                only_folders_are_listed;
                mutations_leave_nothing_else_behind;
                links_are_shown_as_what_they_lead_to: Links;
                special_files_are_listed_as_other: SpecialFiles;
                a_linked_folder_is_listed: Links;
                children_come_and_go_while_listing;
                links_come_and_go_while_listing: Links;
                mutations_do_not_show_in_listings;
            }
            write_text {
                a_new_file_is_written_as_given;
                a_replaced_file_shows_before_and_after;
                what_was_not_text_is_replaced_without_before;
                the_byte_order_mark_stays;
                uniform_crlf_stays;
                folders_are_made_for_new_files;
                a_refused_write_makes_no_folders;
                nothing_is_written_below_a_file;
                a_folder_is_not_written_to;
                a_special_file_is_not_written_to: SpecialFiles;
                a_large_text_is_written_whole;
                links_stay_links: Links;
                a_dangling_link_creates_its_destination: Links;
                the_policy_of_a_call_binds_those_with_a_fence;
            }
            edit_text {
                the_one_match_is_replaced;
                matching_is_literal;
                line_endings_stay_as_they_are;
                the_byte_order_mark_stays;
                several_matches_are_ambiguous;
                overlapping_matches_are_ambiguous;
                replace_all_replaces_every_match;
                what_is_not_text_cannot_be_edited;
                an_absent_file_is_stale;
                a_folder_cannot_be_edited;
                a_special_file_cannot_be_edited: SpecialFiles;
                a_large_file_is_edited;
                links_stay_links: Links;
            }
            guards {
                create_if_absent_creates;
                create_if_absent_refuses_what_is_there;
                what_was_read_may_be_replaced;
                what_was_read_may_be_edited;
                what_was_written_may_be_changed_on;
                a_write_in_old_dress_knows_its_version;
                every_change_is_stale;
                a_change_with_old_times_is_stale: Times;
                own_mutations_make_older_versions_stale;
                a_missing_file_is_stale;
                a_strange_token_is_stale;
                the_guard_is_judged_before_the_content;
                metadata_changes_cost_nothing: Metadata ContentGuards;
                identical_rewrites_cost_nothing: ContentGuards;
                a_look_licenses_no_change;
                a_settled_look_licenses_no_change: Times;
                versions_are_the_same_through_links: Links;
            }
            cancel {
                cancelled_looks_are_refused;
                cancelled_reads_are_refused;
                cancelled_mutations_change_nothing;
                a_stream_can_be_cancelled;
                cancelling_afterwards_has_no_effect;
                cancelling_one_edit_costs_no_other;
                dropping_one_edit_costs_no_other;
                a_read_cancelled_at_any_step_is_right_or_refused;
            }
            stopping {
                a_mutation_cancelled_at_any_step_is_whole_or_nothing;
                a_mutation_cancelled_at_any_moment_is_whole_or_nothing;
                a_mutation_dropped_at_any_step_is_whole_or_nothing;
                a_mutation_dropped_at_any_moment_is_whole_or_nothing;
            }
            races {
                one_write_wins_under_one_version;
                one_edit_wins_under_one_version;
                a_write_or_an_edit_wins_under_one_version;
                guarded_edits_that_try_again_are_all_applied;
                racing_unguarded_edits_are_all_applied;
                racing_increments_lose_nothing;
                readers_see_whole_texts;
                different_files_do_not_race;
            }
            creations {
                one_creation_wins;
                one_racing_write_says_that_it_created;
                a_creation_comes_first_or_is_refused;
                racing_writes_share_a_new_folder;
            }
            rivals {
                two_backends_agree_on_keys: SharedGround;
                what_one_changes_the_other_sees: SharedGround;
                one_mutation_wins_between_two_backends: SharedGround;
                one_creation_wins_between_two_backends: SharedGround;
                edits_through_two_backends_are_all_applied: SharedGround;
                guarded_edits_through_two_backends_lose_nothing: SharedGround;
                readers_see_whole_texts_of_another_backend: SharedGround;
            }
            meanwhile {
                text_and_version_belong_together: ContentGuards;
                text_and_version_belong_together_beside_own_writes: ContentGuards;
                a_version_read_meanwhile_licenses_no_other_text;
                a_stream_tells_the_version_of_what_it_told: ContentGuards;
                a_resumed_stream_is_not_continued_in_another_text;
            }
            growth {
                a_growing_file_is_read_to_an_end_that_it_had;
                a_limit_is_kept_while_a_file_grows;
            }
            names {
                odd_names_are_names;
                odd_names_are_listed_with_their_targets;
                odd_names_have_urls;
                the_longest_names_are_names;
                names_that_are_no_text_have_exact_targets: RawNames;
            }
            errors {
                not_found;
                not_a_regular_file;
                not_a_regular_file_but_special: SpecialFiles;
                not_a_directory;
                binary_file;
                invalid_utf8_text;
                too_large;
                blank_path;
                nul_in_path;
                parent_is_not_a_directory;
                slash_names_a_folder;
                file_changed;
                file_gone;
                file_exists;
                edit_not_found;
                ambiguous_edit;
                aborted;
                messages_name_the_path_of_the_caller: Links;
            }
        }
    };
}

/// Every rule, in the order of its module.
pub const RULES: &[Rule] = __each_rule! { __as_data [] };
