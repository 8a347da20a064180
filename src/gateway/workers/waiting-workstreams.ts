import type { Waiting } from '../../../protocol/cluster/machine-labels.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import { lackedBy, type Obstacle } from './can-own.ts';
import { type Elsewhere, formerMachine, unreachable } from './elsewhere.ts';

/** A stored workstream that runs nowhere now. */
export interface WaitingRow {
  row: WorkstreamTable;
  waiting: Waiting;
}

/** The workstreams of machines that have gone, which this machine cannot have, and why: the only place that knows it. */
export class WaitingWorkstreams {
  readonly #byMachine = new Map<string, ReadonlyMap<string, Obstacle>>();
  readonly #store: Pick<Store, 'db'>;
  readonly #here: string;

  constructor({ store, nodeId }: { store: Pick<Store, 'db'>; nodeId: string }) {
    this.#store = store;
    this.#here = nodeId;
  }

  /** What was found about workstreams of a machine that has gone. `isAll`: it has no others that wait. */
  note(machine: string, found: ReadonlyMap<string, Obstacle>, { isAll }: { isAll: boolean }): void {
    const known = isAll ? [] : (this.#byMachine.get(machine) ?? []);
    this.#byMachine.set(machine, new Map([...known, ...found]));
  }

  /** Only these machines have gone now. */
  keepOnly(machines: readonly string[]): void {
    for (const machine of this.#byMachine.keys()) if (!machines.includes(machine)) this.#byMachine.delete(machine);
  }

  #of(machine: string, wsId: string): Waiting | undefined {
    const obstacle = this.#byMachine.get(machine)?.get(wsId);
    return obstacle && toWaiting(obstacle, { machine: formerMachine(machine), here: this.#here });
  }

  /** The answer to a call about a workstream whose machine cannot be asked. */
  refusal(elsewhere: Elsewhere): GatewayError {
    const { machine, wsId } = elsewhere;
    const waiting = machine === null || wsId === undefined ? undefined : this.#of(machine, wsId);
    if (waiting === undefined) return unreachable(machine ?? 'the active daemon', elsewhere);
    const details = { waiting };
    return new GatewayError('UNAVAILABLE', waiting.message, { details, retryAfterMs: RETRY_MS, cause: elsewhere });
  }

  /** Those that were open and that the viewer perceives, oldest first. */
  async list(viewer: Viewer): Promise<WaitingRow[]> {
    const machines = [...this.#byMachine].flatMap(([machine, found]) => (found.size > 0 ? [machine] : []));
    if (machines.length === 0) return [];
    const rows = await this.#store.db
      .selectFrom('workstreams')
      .selectAll()
      .where('machine', 'in', machines)
      .where('loaded', '=', 1)
      .where(perceivedBy(viewer))
      .orderBy('created_ms')
      .execute();
    return rows.flatMap((row) => {
      const waiting = this.#of(row.machine ?? '', row.ws_id);
      return waiting ? [{ row, waiting }] : [];
    });
  }
}

/** When a client may ask again. */
const RETRY_MS = 5_000;

function toWaiting(obstacle: Obstacle, { machine, here }: { machine: string; here: string }): Waiting {
  const message = `This workstream waits for ${machine}, because ${here} does not have ${lackedBy(obstacle)}.`;
  if (obstacle.reason === 'folder') return { reason: 'folder', nodeId: machine, message };
  return { reason: 'labels', nodeId: machine, missingLabels: obstacle.missingLabels, message };
}
