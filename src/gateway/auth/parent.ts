/**
 * The credential that API tokens, login links and login sessions hang below. They never have more rights than it, never
 * last longer, and end with it (decision 37).
 */
export interface Parent {
  kind: 'operator' | 'token';
  /** The token's id; for the operator token a fixed name. */
  id: string;
}

/** The columns that hold a credential's parent. */
export interface LineageColumns {
  parent_kind: Parent['kind'];
  parent_id: string;
}
