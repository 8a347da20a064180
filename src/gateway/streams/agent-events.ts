import { LIMITS } from '../../../protocol/limits.ts';
import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Clock } from '../../clock.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Watched } from '../sharing/perception.ts';
import { type AgentFrame, AgentProjection } from './agent-projection.ts';

/** The workstream of a run. Its owner and visibility are read when an event is sent. */
export type Session = Watched & { readonly sessionKey: string };

export interface AgentEventsDeps {
  events: EventLog;
  clock: Clock;
  stopping: AbortSignal;
  /** Sends to every connection that watches this workstream. Must not throw. */
  send(about: Watched, frame: AgentFrame): void;
}

/** Projects running workstreams for protocol-2 clients: once per run for all clients, text at most every 150 ms. */
export class AgentEvents {
  readonly #deps: AgentEventsDeps;
  readonly #runs = new Map<string, { about: Watched; projection: AgentProjection }>();
  #sampling = false;

  constructor(deps: AgentEventsDeps) {
    this.#deps = deps;
    deps.events.onAppended((wsId, entries) => this.#take(wsId, entries));
  }

  /** A run begins, or continues after a restart. */
  begin(about: Session, runId: string): void {
    const projection = projectionOf(about, runId);
    this.#runs.set(about.wsId, { about, projection });
    this.#send(about, projection.started(this.#deps.clock.now()));
  }

  /** A queued run was cancelled; this is its only event. */
  dropped(about: Session, runId: string): void {
    const run = { run_id: runId, status: 'cancelled' as const };
    const idle = { type: 'ws_state', ws_id: about.wsId, state: 'idle', run } as const;
    this.#send(about, projectionOf(about, runId).take(idle, this.#deps.clock.now()));
  }

  /** A run that took the message of a queued run has ended; these are the only events of the queued one. */
  followed(about: Session, runId: string, { summary, ...run }: RunOutcome & { summary: string }): void {
    const projection = projectionOf(about, runId);
    const nowMs = this.#deps.clock.now();
    if (run.status === 'ok') projection.take({ type: 'content', text: summary }, nowMs);
    this.#send(about, projection.take({ type: 'ws_state', ws_id: about.wsId, state: 'idle', run }, nowMs));
  }

  #take(wsId: string, entries: readonly { json: string; type: string }[]): void {
    const running = this.#runs.get(wsId);
    if (!running) return;
    const { about, projection } = running;
    const nowMs = this.#deps.clock.now();
    for (const { json, type } of entries) {
      const event: StreamEvent = JSON.parse(json);
      this.#send(about, projection.take(event, nowMs));
      if (type === 'ws_state' && event.type === 'ws_state' && event.run) this.#runs.delete(wsId);
    }
    if (projection.dirty) void this.#sampleLater();
  }

  /** One timer for all runs, started only when text is pending. */
  async #sampleLater(): Promise<void> {
    if (this.#sampling) return;
    this.#sampling = true;
    try {
      await this.#deps.clock.sleep(LIMITS.agentSampleMs, this.#deps.stopping);
    } catch {
      return; // the daemon is stopping
    } finally {
      this.#sampling = false;
    }
    const nowMs = this.#deps.clock.now();
    for (const { about, projection } of this.#runs.values()) this.#send(about, projection.sample(nowMs));
  }

  #send(about: Watched, frames: readonly AgentFrame[]): void {
    for (const frame of frames) this.#deps.send(about, frame);
  }
}

const projectionOf = ({ wsId, sessionKey }: Session, runId: string): AgentProjection =>
  new AgentProjection({ runId, sessionKey, sessionId: wsId });
