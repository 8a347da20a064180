import { LIMITS } from '../../../protocol/limits.ts';
import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Clock } from '../../clock.ts';
import type { EventLog } from '../events/event-log.ts';
import { type AgentFrame, AgentProjection } from './agent-projection.ts';

export interface RunIdentity {
  wsId: string;
  runId: string;
  sessionKey: string;
}

export interface AgentEventsDeps {
  events: EventLog;
  clock: Clock;
  stopping: AbortSignal;
  /** Sends to every connection that watches this workstream. Must not throw. */
  send(wsId: string, frame: AgentFrame): void;
}

/** Projects running workstreams for protocol-2 clients: once per run for all clients, text at most every 150 ms. */
export class AgentEvents {
  readonly #deps: AgentEventsDeps;
  readonly #runs = new Map<string, AgentProjection>();
  #sampling = false;

  constructor(deps: AgentEventsDeps) {
    this.#deps = deps;
    deps.events.onAppended((wsId, entries) => this.#take(wsId, entries));
  }

  /** A run begins, or continues after a restart. */
  begin({ wsId, runId, sessionKey }: RunIdentity): void {
    const projection = new AgentProjection({ runId, sessionKey, sessionId: wsId });
    this.#runs.set(wsId, projection);
    this.#send(wsId, projection.started(this.#deps.clock.now()));
  }

  /** A queued run was cancelled; this is its only event. */
  dropped({ wsId, runId, sessionKey }: RunIdentity): void {
    const projection = new AgentProjection({ runId, sessionKey, sessionId: wsId });
    const run = { run_id: runId, status: 'cancelled' as const };
    this.#send(wsId, projection.take({ type: 'ws_state', ws_id: wsId, state: 'idle', run }, this.#deps.clock.now()));
  }

  /** A run that took the message of a queued run has ended; these are the only events of the queued one. */
  followed({ wsId, runId, sessionKey }: RunIdentity, { summary, ...run }: RunOutcome & { summary: string }): void {
    const projection = new AgentProjection({ runId, sessionKey, sessionId: wsId });
    const nowMs = this.#deps.clock.now();
    if (run.status === 'ok') projection.take({ type: 'content', text: summary }, nowMs);
    this.#send(wsId, projection.take({ type: 'ws_state', ws_id: wsId, state: 'idle', run }, nowMs));
  }

  #take(wsId: string, entries: readonly { json: string; type: string }[]): void {
    const projection = this.#runs.get(wsId);
    if (!projection) return;
    const nowMs = this.#deps.clock.now();
    for (const { json, type } of entries) {
      const event: StreamEvent = JSON.parse(json);
      this.#send(wsId, projection.take(event, nowMs));
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
    for (const [wsId, projection] of this.#runs) this.#send(wsId, projection.sample(nowMs));
  }

  #send(wsId: string, frames: readonly AgentFrame[]): void {
    for (const frame of frames) this.#deps.send(wsId, frame);
  }
}
