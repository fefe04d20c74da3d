//! Roles, grants and demo data: the only room that ever sees an administrator's credential.
