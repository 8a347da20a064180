/** The beginning of a conversation's requests, a `Prefix` of the agent. Primary key: ws_id. */
export interface PrefixTable {
  ws_id: string;
  version: string;
  /** It belongs to the context that begins after this message. */
  after_seq: number;
  family: string;
  system: string;
  /** `ToolDefinition[]`, in the order and with the bytes of the first request. */
  tools_json: string;
  /** A `Told`. */
  told_json: string;
}

/** What people decided about the instruction files of a folder, in one conversation. Primary key: (ws_id, folder). */
export interface InstructionTrustTable {
  ws_id: string;
  /** A real path. Its subfolders are not included. */
  folder: string;
  trusted: 0 | 1;
  decided_ms: number;
}

/** Folders that a caller with the approve scope named as a working directory. Primary key: path. */
export interface WorkdirTable {
  /** The real path. */
  path: string;
  principal: string;
  named_ms: number;
}
