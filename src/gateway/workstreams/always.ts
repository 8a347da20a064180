import type { Message } from '../../agent/message.ts';
import type { Clock } from '../../clock.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';

/** Auto-approve of one workstream: every call runs without a question, until it ends. */
export interface Always {
  /** The principal who gave it. */
  by: string;
  /** Null: it has no end. */
  untilMs: number | null;
}

/** Why auto-approve is over: its time, its giver's credential, or the conversation that it was given in. */
export type AlwaysEnd = 'time' | 'giver' | 'conversation';

interface AlwaysDeps {
  live: Pick<LiveSettings, 'alwaysMs'>;
  authenticator: Pick<Authenticator, 'endOf'>;
  clock: Pick<Clock, 'now'>;
}

/** Grants auto-approve, and decides what it covers. */
export class AlwaysRules {
  readonly #deps: AlwaysDeps;
  #change = new AbortController();

  constructor(deps: AlwaysDeps) {
    this.#deps = deps;
  }

  grant(by: string): Always {
    const { live, clock } = this.#deps;
    return { by, untilMs: live.alwaysMs === 0 ? null : clock.now() + live.alwaysMs };
  }

  /** Undefined while it is in force. */
  whyOver({ by, untilMs }: Always): AlwaysEnd | undefined {
    if (this.endOf(by)?.aborted) return 'giver';
    return untilMs !== null && untilMs <= this.#deps.clock.now() ? 'time' : undefined;
  }

  isInForce(always: Always | undefined): always is Always {
    return always !== undefined && this.whyOver(always) === undefined;
  }

  /**
   * Whether calls of this run need no question. Only callers who may approve can give auto-approve, so it covers only
   * runs that such a caller started. A run that the daemon started was checked by nobody: it is covered only while
   * everything it reads was written by callers who may approve.
   */
  covers(always: Always | undefined, { run, messages }: { run: RunRecord; messages: readonly Message[] }): boolean {
    const { principal, request } = run;
    if (!this.isInForce(always) || request.rights !== 'approve' || this.endOf(principal)?.aborted) return false;
    return request.unattended !== true || !hasForeignText(messages);
  }

  /** Aborts when the credential behind a principal ends; undefined where none can end. */
  endOf(principalId: string): AbortSignal | undefined {
    return this.#deps.authenticator.endOf(principalId);
  }

  /** Auto-approve was given or loaded: whoever waits for the next end looks again. */
  noteChange(): void {
    this.#change.abort();
    this.#change = new AbortController();
  }

  /** Aborts with the next `noteChange`. */
  get changed(): AbortSignal {
    return this.#change.signal;
  }
}

/** Whether a caller who may not approve wrote any of this. */
export const hasForeignText = (messages: readonly Message[]): boolean =>
  messages.some((message) => message.role === 'user' && !message.trusted);

type AlwaysColumns = Pick<WorkstreamTable, 'always_by' | 'always_until_ms'>;

export const toAlwaysColumns = (always: Always | undefined): AlwaysColumns => ({
  always_by: always?.by ?? null,
  always_until_ms: always?.untilMs ?? null,
});

export const toAlways = ({ always_by: by, always_until_ms: untilMs }: AlwaysColumns): Always | undefined =>
  by === null ? undefined : { by, untilMs };
