import type { GatewayClient } from '../../../protocol/client/ws-client.ts';

/** What a conversation has cost so far, in US dollars. */
export interface Spent {
  costUsd: number;
}

/** Reads the cost of a conversation; call `read` whenever it may have grown. */
export function followCost({ client, wsId, onChange }: CostDeps): {
  readonly current: Spent | undefined;
  read(): void;
} {
  let current: Spent | undefined;
  return {
    get current() {
      return current;
    },
    read() {
      client.call('usage.get', { by: 'workstream', wsId }).then(
        ({ total }) => {
          if (total === undefined) return;
          current = { costUsd: total.costUsd };
          onChange();
        },
        () => undefined, // the line shows the last known cost
      );
    },
  };
}

interface CostDeps {
  client: Pick<GatewayClient, 'call'>;
  wsId: string;
  onChange(): void;
}
