/** What a server answered a request, as it sent it. */
export type ServerAnswer = Readonly<Record<string, unknown>>;

/** A server needs answers of the person first. It is asked again, with them. */
export interface InputNeeded {
  /** Its questions by its own names for them. */
  requests: Readonly<Record<string, unknown>>;
  /** What the next request has to repeat. */
  state?: string | undefined;
}

export type ServerReply = { kind: 'done'; answer: ServerAnswer } | ({ kind: 'input' } & InputNeeded);

export interface ServerCall {
  method: 'tools/call' | 'resources/read' | 'prompts/get';
  params: Readonly<Record<string, unknown>>;
  /** The workstream that it is made for; absent: none in particular. */
  wsId?: string;
  /** In whose name, where no workstream says that: a user's id, empty for the operator. */
  user?: string;
  signal: AbortSignal;
  /** A line about how far it is. */
  onProgress(line: string): void;
  /** The server asks the person while the call is under way. Rejects with the reason of the signal. */
  onAsked(params: unknown, signal: AbortSignal): Promise<ElicitResult>;
}

/** How a person answered a question of a server. */
export type ElicitResult =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' };

/** What servers list. */
export type Listed = 'tools' | 'resources' | 'templates' | 'prompts';

/** An open connection to a tool server. */
export interface Session {
  /** What the server says it is. */
  readonly about: string;
  /** All pages of a list, as the server describes its entries; nothing if it has no such list. */
  list(what: Listed, signal: AbortSignal): Promise<unknown[]>;
  /** Rejects with the signal's reason, and with what the server says that went wrong. */
  call(call: ServerCall): Promise<ServerReply>;
  /** Resolves with the reason for people when the connection has ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

export interface SessionOptions {
  /** Limits how long it may take until it is open. */
  signal: AbortSignal;
  /** The server says that its lists have changed. */
  onListsChanged(): void;
}
