import path from 'node:path';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { jsonDocument } from '../home/json-document.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';

const Pairing = z.object({
  token: z.string(),
  /** The commands of the approved request. */
  commands: z.array(z.string()),
});
export type Pairing = z.infer<typeof Pairing>;

const NodeStateDocument = z.object({
  nodeId: z.string().min(1),
  /** By address of the gateway: a token is never sent to another one. */
  pairings: z.record(z.string(), Pairing),
});

/** This node's id, and its pairing with each gateway: `node.json` of its home, mode 0600. */
export interface NodeState {
  nodeId: string;
  find(gateway: string): Pairing | undefined;
  /** Resolves when the pairing is on disk. */
  keep(gateway: string, pairing: Pairing): Promise<void>;
  forget(gateway: string): Promise<void>;
}

interface NodeStateDeps {
  /** Exists with mode 0700. */
  home: string;
  ids: Pick<Ids, 'secret'>;
  clock: Clock;
  log: Log;
}

export async function openNodeState({ home, ids, clock, log }: NodeStateDeps): Promise<NodeState> {
  const parse = (value: unknown) => NodeStateDocument.parse(value);
  const document = jsonDocument({ path: path.join(home, 'node.json'), parse, clock, log });
  const stored = await document.read();
  let state = stored ?? { nodeId: ids.secret(16), pairings: {} };
  if (stored === null) await document.write(state);
  /** Reads the file again, because another process with this home may have paired with its own gateway since. */
  async function change(gateway: string, pairing: Pairing | undefined) {
    const { nodeId, pairings } = (await document.read()) ?? state;
    const { [gateway]: _, ...others } = pairings;
    state = { nodeId, pairings: pairing ? { ...others, [gateway]: pairing } : others };
    await document.write(state);
  }
  return {
    nodeId: state.nodeId,
    find: (gateway) => (Object.hasOwn(state.pairings, gateway) ? state.pairings[gateway] : undefined),
    keep: change,
    forget: (gateway) => change(gateway, undefined),
  };
}
