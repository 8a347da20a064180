import type { Message } from '../../agent/message.ts';
import type { Clock } from '../../clock.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';

/** Auto-approve of a workstream: its calls run without approval until it ends. */
export interface Always {
  /** The principal that enabled it. */
  by: string;
  /** Null: without end. */
  untilMs: number | null;
  /** The only tools that it covers; absent: all of them. */
  tools?: readonly string[];
}

/** Why auto-approve ended: its time, the credential of its giver, or the conversation in which it was enabled. */
export type AlwaysEnd = 'time' | 'giver' | 'conversation';

interface AlwaysDeps {
  live: Pick<LiveSettings, 'alwaysMs'>;
  authenticator: Pick<Authenticator, 'endOf'>;
  clock: Pick<Clock, 'now'>;
}

/** Grants auto-approve, and decides which runs it covers. */
export class AlwaysRules {
  readonly #deps: AlwaysDeps;
  #change = new AbortController();

  constructor(deps: AlwaysDeps) {
    this.#deps = deps;
  }

  grant(by: string, tools?: readonly string[]): Always {
    const { live, clock } = this.#deps;
    return { by, untilMs: live.alwaysMs === 0 ? null : clock.now() + live.alwaysMs, ...(tools && { tools }) };
  }

  /** Why it has ended; undefined while it is in force. */
  whyOver({ by, untilMs }: Always): AlwaysEnd | undefined {
    if (this.endOf(by)?.aborted) return 'giver';
    return untilMs !== null && untilMs <= this.#deps.clock.now() ? 'time' : undefined;
  }

  isInForce(always: Always | undefined): always is Always {
    return always !== undefined && this.whyOver(always) === undefined;
  }

  /**
   * Whether calls of this run need no approval. Only callers with the approve scope can enable auto-approve, so it
   * covers only runs that such callers started. A run that the daemon started is covered only while everything it reads
   * was written by such callers.
   */
  covers(always: Always | undefined, { run, messages }: { run: RunRecord; messages: readonly Message[] }): boolean {
    const { principal, request } = run;
    if (!this.isInForce(always) || request.rights !== 'approve' || this.endOf(principal)?.aborted) return false;
    return request.unattended !== true || !hasForeignText(messages);
  }

  /** Aborts when the credential of a principal ends; undefined for principals that never end. */
  endOf(principalId: string): AbortSignal | undefined {
    return this.#deps.authenticator.endOf(principalId);
  }

  /** Auto-approve was granted or loaded, so the next end must be computed again. */
  noteChange(): void {
    this.#change.abort();
    this.#change = new AbortController();
  }

  /** Aborts with the next `noteChange`. */
  get changed(): AbortSignal {
    return this.#change.signal;
  }
}

/** Whether a caller without the approve scope wrote any of these messages. */
export const hasForeignText = (messages: readonly Message[]): boolean =>
  messages.some((message) => message.role === 'user' && !message.trusted);

type AlwaysColumns = Pick<WorkstreamTable, 'always_by' | 'always_until_ms' | 'always_tools_json'>;

export const toAlwaysColumns = (always: Always | undefined): AlwaysColumns => ({
  always_by: always?.by ?? null,
  always_until_ms: always?.untilMs ?? null,
  always_tools_json: always?.tools ? JSON.stringify(always.tools) : null,
});

/** A damaged list of tools covers none. */
export function toAlways({ always_by: by, always_until_ms: untilMs, always_tools_json: json }: AlwaysColumns) {
  if (by === null) return undefined;
  const always: Always = { by, untilMs, ...(json !== null && { tools: toolsIn(json) }) };
  return always;
}

function toolsIn(json: string): string[] {
  try {
    const tools: unknown = JSON.parse(json);
    return Array.isArray(tools) ? tools.filter((tool) => typeof tool === 'string') : [];
  } catch {
    return []; // not JSON
  }
}
