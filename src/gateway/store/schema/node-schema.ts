/** A paired node; a revoked one has no row. */
export interface NodeTable {
  node_id: string;
  display_name: string | null;
  /**
   * A `PairedNode` without the data in other columns: what it said about itself at the last approval, including its
   * name.
   */
  about_json: string;
  /** The commands of the last approval, as a JSON array. */
  commands_json: string;
  /** SHA-256 in hex; the token itself is not stored. */
  token_hash: string;
  approved_by: string;
  created_ms: number;
  approved_ms: number;
  /** When it was last connected, as far as known while `is_connected` is 1; null before the first connection. */
  seen_ms: number | null;
  /** 0 or 1; also 1 if the daemon died while it was connected. */
  is_connected: number;
}

export interface InvocationTable {
  invoke_id: string;
  node_id: string;
  command: string;
  params_json: string | null;
  /** The caller's key, as sent to the node. */
  invoke_key: string;
  /** The tool call that it belongs to, if any; unique. */
  tool_call: string | null;
  timeout_ms: number;
  /** `unsent`: the node had disconnected before it was sent; `sent`: its outcome is unknown; the others are final. */
  status: 'unsent' | 'sent' | 'ok' | 'error';
  /** The node's answer. */
  outcome_json: string | null;
  deadline_ms: number;
  finished_ms: number | null;
}
