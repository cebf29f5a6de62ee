//! The plugins that a composition may name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, schema_for};
use serde_json::Value as Json;

use crate::composition_error::{CompositionError, CompositionErrorKind, Place, RowPlace};
use crate::known::unknown;
use crate::node::Node;
use crate::plugin::{Plugin, Prepared, Start};
use crate::settings::{self, SettingsError};

/// A prefix that row names may have or not.
const OPTIONAL_PREFIX: &str = "@deepseek-ai/";

/// Row names and the plugins they stand for. Filled explicitly, so that nothing depends on what happens to be linked.
///
/// ```
/// use dsh_plugin::{Context, Failure, NoConfig, Plugin, Registry};
///
/// struct Greeter;
/// impl Plugin for Greeter {
///     type Config = NoConfig;
///     fn name(&self) -> &'static str {
///         "greeter"
///     }
///     async fn apply(&self, _ctx: Context, _config: NoConfig) -> Result<(), Failure> {
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Failure> {
/// let registry = Registry::new().with("dsh-greeter", Greeter).alias("dsh-hello", "dsh-greeter");
/// let row = registry.configure("@deepseek-ai/dsh-hello", serde_json::json!({}))?;
/// let root = Context::root();
/// root.compose(vec![row]).await?;
/// assert_eq!(root.tree().children[0].name, "greeter");
///
/// let error = registry.configure("dsh-greter", serde_json::json!({})).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unknown plugin \"dsh-greter\" (did you mean \"dsh-greeter\"?); known: dsh-greeter, dsh-hello"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Registry {
    rows: Vec<Registered>,
    aliases: Vec<Alias>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `plugin` under `row_name`, which replaces an earlier one of that name. All rows of that name share it.
    #[must_use]
    pub fn with<P: Plugin>(self, row_name: &'static str, plugin: P) -> Self {
        self.with_paths(row_name, plugin, |_, _| {})
    }

    /// [`with`](Registry::with) for a plugin whose settings hold paths: `fix` makes relative ones relative to `base`,
    /// the folder of the composition file. It is called only for rows that come from a file.
    #[must_use]
    pub fn with_paths<P: Plugin>(
        mut self,
        row_name: &'static str,
        plugin: P,
        fix: fn(&mut P::Config, base: &Path),
    ) -> Self {
        let inject = plugin.inject();
        let plugin = Arc::new(plugin);
        let configure = move |node: &Node, base: Option<&Path>| {
            let schema = schema_of::<P>();
            let mut config: P::Config = settings::read(node, known_keys(&schema).as_deref())?;
            if let Some(base) = base {
                fix(&mut config, base);
            }
            Ok(Arc::new(Prepared { plugin: Arc::clone(&plugin), config }) as Arc<dyn Start>)
        };
        self.rows.retain(|row| row.name != row_name);
        self.rows.push(Registered {
            name: row_name,
            inject,
            schema: schema_of::<P>,
            configure: Box::new(configure),
        });
        self
    }

    /// Lets rows say `older` for `name`.
    #[must_use]
    pub fn alias(mut self, older: &'static str, name: &'static str) -> Self {
        self.aliases.push(Alias { older, name });
        self
    }

    /// Checks a row that does not come from a file, and makes it ready to be mounted. `null` settings are empty ones.
    pub fn configure(&self, row_name: &str, config: Json) -> Result<Configured, CompositionError> {
        self.bind(row_name, &Node::from(config), &Place::default(), None)
    }

    /// What each row can be given, in the order of registration: for documentation.
    pub fn schemas(&self) -> Vec<RowSchema> {
        let aliases_of =
            |name| self.aliases.iter().filter(move |alias| alias.name == name).map(|alias| alias.older);
        self.rows
            .iter()
            .map(|row| RowSchema {
                row_name: row.name,
                aliases: aliases_of(row.name).collect(),
                inject: row.inject,
                schema: (row.schema)(),
            })
            .collect()
    }

    /// Finds the plugin of a row and reads its settings; `base` is the folder of its file.
    pub(crate) fn bind(
        &self,
        row_name: &str,
        config: &Node,
        place: &Place,
        base: Option<&Path>,
    ) -> Result<Configured, CompositionError> {
        let unprefixed = row_name.strip_prefix(OPTIONAL_PREFIX).unwrap_or(row_name);
        let name = self
            .aliases
            .iter()
            .find(|alias| alias.older == unprefixed)
            .map_or(unprefixed, |alias| alias.name);
        let Some(row) = self.rows.iter().find(|row| row.name == name) else {
            let mut known: Vec<&str> = self
                .rows
                .iter()
                .map(|row| row.name)
                .chain(self.aliases.iter().map(|alias| alias.older))
                .collect();
            known.sort_unstable();
            let message = unknown("plugin", row_name, unprefixed, &known);
            return Err(CompositionError::new(CompositionErrorKind::Invalid, place.clone(), message));
        };
        let plugin = (row.configure)(config, base).map_err(|error| {
            CompositionError::new(CompositionErrorKind::Invalid, place.at_line(error.line), error.message)
        })?;
        Ok(Configured {
            plugin,
            row: row.name,
            row_name: row_name.to_owned(),
            settings: config.to_json(),
            base: base.map(Path::to_owned),
            beside: String::new(),
            place: place.clone(),
        })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.rows.iter().map(|row| row.name).collect();
        f.debug_struct("Registry").field("rows", &names).field("aliases", &self.aliases).finish()
    }
}

/// A row whose name is known and whose settings are right, ready to be mounted by
/// [`compose`](crate::Context::compose) or [`mount_row`](crate::Context::mount_row).
#[derive(Clone)]
pub struct Configured {
    plugin: Arc<dyn Start>,
    /// As it is registered.
    row: &'static str,
    /// As the composition has it.
    row_name: String,
    settings: Json,
    base: Option<PathBuf>,
    beside: String,
    place: Place,
}

impl Configured {
    /// The name of the plugin.
    pub fn name(&self) -> &str {
        self.plugin.name()
    }

    /// Its settings, if they are of this type: what will be mounted can be told before it is.
    pub fn config<C: 'static>(&self) -> Option<&C> {
        self.plugin.config().downcast_ref()
    }

    /// Names what the plugin was made with beside its settings, so that a
    /// [`reload`](crate::MountedRows::reload) starts it anew when that changes. Without a word from here, rows are
    /// told apart by their settings alone.
    #[must_use]
    pub fn made_with(self, beside: impl Into<String>) -> Self {
        Self { beside: beside.into(), ..self }
    }

    /// Whether it would come to the same plugin with the same settings.
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        let all = |row: &Self| (row.row, row.base.clone(), row.beside.clone());
        all(self) == all(other) && self.settings == other.settings
    }

    /// The name that the composition gives it, to tell people.
    pub(crate) fn row_name(&self) -> &str {
        &self.row_name
    }

    /// Its name as it is registered, and its id.
    pub(crate) fn identity(&self) -> (&'static str, Option<&str>) {
        (self.row, self.place.row.as_ref().and_then(|row| row.id.as_deref()))
    }

    /// Where it stands: in its file, or else at `index` of the rows that are composed.
    pub(crate) fn place_at(&self, index: usize) -> Place {
        let mut place = self.place.clone();
        place.row.get_or_insert(RowPlace { number: index + 1, name: Some(self.row_name.clone()), id: None });
        place
    }

    pub(crate) fn into_plugin(self) -> Arc<dyn Start> {
        self.plugin
    }

    pub(crate) fn plugin(&self) -> Arc<dyn Start> {
        Arc::clone(&self.plugin)
    }
}

impl fmt::Debug for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configured")
            .field("plugin", &self.name())
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// What a row can be given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RowSchema {
    /// The name in a composition, without prefix.
    pub row_name: &'static str,
    /// Other names for it.
    pub aliases: Vec<&'static str>,
    /// The services it waits for.
    pub inject: &'static [&'static str],
    /// The JSON schema of its settings.
    pub schema: Schema,
}

struct Registered {
    name: &'static str,
    inject: &'static [&'static str],
    schema: fn() -> Schema,
    configure: Box<Configure>,
}

type Configure = dyn Fn(&Node, Option<&Path>) -> Result<Arc<dyn Start>, SettingsError> + Send + Sync;

#[derive(Debug)]
struct Alias {
    older: &'static str,
    name: &'static str,
}

fn schema_of<P: Plugin>() -> Schema {
    fn of<T: JsonSchema>() -> Schema {
        schema_for!(T)
    }
    of::<P::Config>()
}

/// The keys a schema allows; `None` if it allows any.
fn known_keys(schema: &Schema) -> Option<Vec<&str>> {
    let open = schema.get("additionalProperties").is_some_and(|rest| *rest != Json::Bool(false));
    let properties = schema.get("properties")?.as_object()?;
    (!open).then(|| properties.keys().map(String::as_str).collect())
}
