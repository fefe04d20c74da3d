//! Who asks, and from where: a follow-up finds only its own asker's questions, and row policies see the asker's identity.

use airlock_database::Identity;

use crate::trace_parent::TraceParent;

/// Where an ask came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// An application over HTTP.
    Http,
    /// A person at the page.
    Page,
    /// An agent over MCP.
    Mcp,
    /// The command line.
    Cli,
}

impl Surface {
    /// The word in logs, metrics and the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Page => "page",
            Self::Mcp => "mcp",
            Self::Cli => "cli",
        }
    }
}

/// Who asks. Made at the edge from what was proven there, never from what a request says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// Where the ask came in.
    pub surface: Surface,
    /// Whose conversation it is: the id of a key. `None` is everybody on this machine, where there are no keys.
    pub owner: Option<String>,
    /// What the data source is told about the asker, for row policies.
    pub identity: Option<Identity>,
    /// The span of another service's trace that the ask came from.
    pub trace: Option<TraceParent>,
}

impl Asker {
    /// Somebody on this machine, at this surface.
    #[must_use]
    pub const fn local(surface: Surface) -> Self {
        Self { surface, owner: None, identity: None, trace: None }
    }
}
