/**
 * The parent of API tokens, login links and login sessions. A child never has more rights than its parent, never lasts
 * longer, and ends with it (decision 37).
 */
export interface Parent {
  kind: 'operator' | 'token' | 'user';
  /** The id of the token or the user; a fixed name for the operator token. */
  id: string;
}

/** The columns with a credential's parent. */
export interface LineageColumns {
  parent_kind: Parent['kind'];
  parent_id: string;
}
