/** What a tool answered, as the server sent it. */
export interface ToolAnswer {
  content: readonly unknown[];
  structured?: unknown;
  isError: boolean;
}

export interface ServerCall {
  /** As the server calls it. */
  tool: string;
  args: Record<string, unknown>;
  /** The workstream that it is made for. */
  wsId?: string;
  signal: AbortSignal;
  /** A line about how far it is. */
  onProgress(line: string): void;
}

/** An open connection to a tool server. */
export interface Session {
  /** What the server says it is. */
  readonly about: string;
  /** All pages of its tools, as it describes them. */
  listTools(signal: AbortSignal): Promise<unknown[]>;
  /** Rejects with the signal's reason, and with what the server says that went wrong. */
  call(call: ServerCall): Promise<ToolAnswer>;
  /** Resolves with the reason for people when the connection has ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

export interface SessionOptions {
  /** Limits how long it may take until it is open. */
  signal: AbortSignal;
  /** The server says that its tools have changed. */
  onToolsChanged(): void;
}
