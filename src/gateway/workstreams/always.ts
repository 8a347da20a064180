import type { Mode } from '../../../protocol/events/modes.ts';
import { DECIDING, type Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { Message } from '../../agent/message.ts';
import type { Clock } from '../../clock.ts';
import { FirmEnds } from '../../timing/firm-ends.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { parentNamed } from '../auth/lineage.ts';
import type { LiveSettings } from '../live-settings.ts';
import { authorsOf, type Written } from '../queue/authors.ts';
import { holdsOneOf } from '../rights.ts';
import type { RunRequest } from '../runs/run-record.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';

/** Auto-approve of a workstream: its calls run without approval until it ends. */
export interface Always {
  /** The principal that enabled it. */
  by: string;
  /** Null: without end. */
  untilMs: number | null;
  /** The only tools that it covers; absent: all of them. */
  tools?: readonly string[];
  /** It is no more than this mode. */
  mode?: GrantedMode;
}

/** The modes that let calls run which would ask otherwise, but not all of them. */
export type GrantedMode = 'edits' | 'auto';

/** Why auto-approve ended: its time, the credential or the rights of its giver, or the conversation in which it was enabled. */
export type AlwaysEnd = 'time' | 'giver' | 'conversation';

/** As much of a run as decides whether auto-approve covers its calls. */
interface CoveredRun extends Written {
  request: Pick<RunRequest, 'rights' | 'unattended' | 'editedBy'>;
}

interface AlwaysDeps {
  live: Pick<LiveSettings, 'alwaysMs'>;
  authenticator: Pick<Authenticator, 'endOf' | 'viewerOf'>;
  clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Grants auto-approve, and decides which runs it covers. */
export class AlwaysRules {
  readonly #deps: AlwaysDeps;
  readonly #ends: FirmEnds;
  #change = new AbortController();

  constructor(deps: AlwaysDeps) {
    this.#deps = deps;
    this.#ends = new FirmEnds(deps.clock);
  }

  grant(by: string, { tools, mode }: Pick<Always, 'tools' | 'mode'> = {}): Always {
    const { live, clock } = this.#deps;
    const untilMs = live.alwaysMs === 0 ? null : clock.now() + live.alwaysMs;
    const always = { by, untilMs, ...(tools && { tools }), ...(mode && { mode }) };
    this.#isTimeOver(always); // its time runs from now on
    return always;
  }

  /** Why it has ended; undefined while it is in force. `needed`: one of them is what gave it the right. */
  whyOver(always: Always, needed: readonly Permission[] = DECIDING): AlwaysEnd | undefined {
    const { by } = always;
    if (this.endOf(by)?.aborted || !this.#mayStill(by, needed)) return 'giver';
    return this.#isTimeOver(always) ? 'time' : undefined;
  }

  #isTimeOver(always: Always): boolean {
    return always.untilMs !== null && this.#ends.leftMs(always, always.untilMs) <= 0;
  }

  isInForce(always: Always | undefined, needed: readonly Permission[] = DECIDING): always is Always {
    return always !== undefined && this.whyOver(always, needed) === undefined;
  }

  /**
   * Whether calls of this run need no approval. Only callers who may decide can enable auto-approve, so it covers only runs
   * whose message only such callers wrote, and only while they may. A run that the daemon started is covered only while everything it reads
   * was written by such callers.
   */
  covers(
    always: Always | undefined,
    { run, messages }: { run: CoveredRun; messages: readonly Message[] },
    needed: readonly Permission[] = DECIDING,
  ): boolean {
    const { request } = run;
    if (!this.isInForce(always, needed) || request.rights !== 'approve') return false;
    const mayStill = (author: string) => !this.endOf(author)?.aborted && this.#mayStill(author, DECIDING);
    if (!authorsOf(run).every(mayStill)) return false;
    return request.unattended !== true || !hasForeignText(messages);
  }

  /** A user may have lost the right meanwhile. Jobs and other principals without a credential have none to lose. */
  #mayStill(principalId: string, needed: readonly Permission[]): boolean {
    if (parentNamed(principalId) === undefined) return true;
    return holdsOneOf(this.#deps.authenticator.viewerOf(principalId).permissions, needed);
  }

  /** Aborts when the credential of a principal ends, or its user loses rights; undefined for principals that never end. */
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

type AlwaysColumns = Pick<WorkstreamTable, 'always_by' | 'always_until_ms' | 'always_tools_json' | 'always_mode'>;

/** Whether it covers the calls of all tools. */
export const isFull = ({ tools, mode }: Always): boolean => tools === undefined && mode === undefined;

export const toAlwaysColumns = (always: Always | undefined): AlwaysColumns => ({
  always_by: always?.by ?? null,
  always_until_ms: always?.untilMs ?? null,
  always_tools_json: always?.tools ? JSON.stringify(always.tools) : null,
  always_mode: always?.mode ?? null,
});

/** A damaged list of tools covers none. */
export function toAlways({
  always_by: by,
  always_until_ms: untilMs,
  always_tools_json: json,
  always_mode: mode,
}: AlwaysColumns): Always | undefined {
  if (by === null) return undefined;
  return { by, untilMs, ...(json !== null && { tools: toolsIn(json) }), ...(mode !== null && { mode }) };
}

function toolsIn(json: string): string[] {
  try {
    const tools: unknown = JSON.parse(json);
    return Array.isArray(tools) ? tools.filter((tool) => typeof tool === 'string') : [];
  } catch {
    return []; // not JSON
  }
}

export const isGranted = (mode: string | undefined): mode is GrantedMode => mode === 'edits' || mode === 'auto';

/** The change of settings that puts a workstream into a mode, given by a principal. */
export const inMode = (
  mode: Mode,
  by: string,
  rules: Pick<AlwaysRules, 'grant'>,
): { always: Always | null; isReadOnly: boolean } => ({
  always: mode === 'full' ? rules.grant(by) : isGranted(mode) ? rules.grant(by, { mode }) : null,
  isReadOnly: mode === 'read_only',
});

/** The mode of a workstream under the auto-approve that is in force. */
export function modeUnder(given: Always | undefined, isReadOnly: boolean): Mode {
  if (given && isFull(given)) return 'full';
  return isReadOnly ? 'read_only' : (given?.mode ?? 'ask');
}
