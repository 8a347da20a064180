import type { HeartbeatEvent } from '../../../protocol/methods/wake.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { RunResult } from '../runs/run-record.ts';
import type { AcceptOptions, Runs } from '../runs/runs.ts';
import { DAEMON } from '../sharing/perception.ts';
import { MAIN } from '../workstreams/session-keys.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { SystemEvents } from './system-events.ts';

/**
 * The model's answer when nothing needs attention. The specification gives this word. It is the only case where a text
 * decides, because a model can only answer in words.
 */
const NOTHING = 'HEARTBEAT_OK';
const WOKEN = `The system lines below woke you. Do what they require. If nothing is required, answer ${NOTHING}.`;
const PERIODIC = `Heartbeat. Check whether anything that was agreed on is due. If nothing is due, answer ${NOTHING}.`;
const PREVIEW_CHARS = 200;
/** No timer is longer, because the wall clock may jump and machines sleep. */
const MAX_NAP_MS = 60_000;

interface Beat {
  message: string;
  /** While the main session is busy, the heartbeat is skipped. */
  onlyIfIdle: boolean;
}

interface HeartbeatDeps {
  workstreams: Pick<Workstreams, 'obtainByKey'>;
  runs: Pick<Runs, 'accept' | 'acceptIfIdle'>;
  systemEvents: Pick<SystemEvents, 'texts' | 'wakes'>;
  clock: Clock;
  log: Log;
  live: Pick<LiveSettings, 'heartbeatMs'>;
  publish(event: HeartbeatEvent): void;
}

/** Turns of the main session that no person started: when an event wakes it, and at intervals if configured. */
export class Heartbeats {
  readonly #deps: HeartbeatDeps;
  #enabled = true;
  #last: HeartbeatEvent | null = null;
  /** The turn that is running or about to start. */
  #beating: Promise<void> | undefined;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  get last(): HeartbeatEvent | null {
    return this.#last;
  }

  get everySeconds(): number {
    return this.#enabled ? Math.round(this.#deps.live.heartbeatMs / 1000) : 0;
  }

  setEnabled(enabled: boolean): void {
    this.#enabled = enabled;
  }

  /** Starts a turn for queued events after the current turn. Does not wait for it. */
  wake(principal: string): void {
    const before = this.#beating ?? Promise.resolve();
    this.#beating = before.then(() => this.#beatForEvents(principal));
  }

  /** Starts a turn for events that were queued when the previous process ended. */
  async recover(): Promise<void> {
    const wakes = this.#deps.systemEvents.wakes();
    if (wakes !== undefined) this.wake(wakes);
  }

  /** Starts heartbeats until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, live } = this.#deps;
    let lastMs = clock.monotonic();
    while (!signal.aborted) {
      const leftMs = live.heartbeatMs === 0 ? MAX_NAP_MS : lastMs + live.heartbeatMs - clock.monotonic();
      await clock.sleep(Math.min(MAX_NAP_MS, Math.max(0, leftMs)), signal).catch(() => undefined); // aborted: the loop ends
      const isDue = live.heartbeatMs > 0 && clock.monotonic() >= lastMs + live.heartbeatMs;
      if (signal.aborted || !isDue) continue;
      lastMs = clock.monotonic();
      if (this.#enabled) await this.#beat('heartbeat', { message: PERIODIC, onlyIfIdle: true });
    }
  }

  /** A person's turn may have carried the events meanwhile; then no turn is needed. */
  async #beatForEvents(principal: string): Promise<void> {
    if (this.#deps.systemEvents.texts().length === 0) return;
    await this.#beat(principal, { message: WOKEN, onlyIfIdle: false });
  }

  async #beat(principal: string, { message, onlyIfIdle }: Beat): Promise<void> {
    const { workstreams, runs, clock, log } = this.#deps;
    const startedMs = clock.monotonic();
    try {
      const main = await workstreams.obtainByKey(MAIN, DAEMON);
      const request = { unattended: true } as const;
      const asked: AcceptOptions = { message, principal, source: 'agent', rights: 'approve', request };
      const handle = await (onlyIfIdle ? runs.acceptIfIdle(main, asked) : runs.accept(main, asked));
      if (!handle) return this.#tell({ ts: clock.now(), status: 'skipped', reason: 'busy' });
      const outcome = toOutcome(await handle.ended);
      this.#tell({ ts: clock.now(), durationMs: Math.round(clock.monotonic() - startedMs), ...outcome });
    } catch (error) {
      log.warn({ err: error }, 'a heartbeat could not be started');
      this.#tell({ ts: clock.now(), status: 'failed', reason: wordsOf(error) });
    }
  }

  #tell(event: HeartbeatEvent): void {
    this.#last = event;
    this.#deps.publish(event);
  }
}

function toOutcome({ status, summary, error }: RunResult): Omit<HeartbeatEvent, 'ts'> {
  if (status !== 'ok') return { status: 'failed', reason: error ?? status };
  const said = summary.trim();
  if (said === '') return { status: 'ok-empty' };
  return said.startsWith(NOTHING) ? { status: 'ok-token' } : { status: 'sent', preview: said.slice(0, PREVIEW_CHARS) };
}
