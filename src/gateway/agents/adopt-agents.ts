import type { Log } from '../../log.ts';
import type { AdoptedRun } from '../runs/run-record.ts';
import { DamagedRow } from '../store/row-checksum.ts';
import type { Store } from '../store/store.ts';
import type { AdoptedAgent } from './adopted-agent.ts';
import { readAgentMessages, readAgentsOf } from './sub-agent-rows.ts';

interface AdoptDeps {
  store: Store;
  log: Log;
  /** Folds the journal of a run or sub-agent, and ends what its tools have left running. Rejects with DamagedRow. */
  restore(runId: string): Promise<Pick<AdoptedRun, 'progress' | 'pending' | 'question'>>;
}

/** The sub-agents of a run of the previous process. A damaged one is left out: its call then fails. */
export async function adoptAgents(runId: string, { store, log, restore }: AdoptDeps): Promise<AdoptedAgent[]> {
  const adopted: AdoptedAgent[] = [];
  for (const stored of await readAgentsOf(store, runId)) {
    const { agent_id: agentId } = stored.state;
    try {
      const restored = await restore(agentId);
      const messages = stored.end ? [] : await readAgentMessages(store, agentId);
      if (messages.some(({ isDamaged }) => isDamaged))
        throw new DamagedRow(`a message of sub-agent ${agentId} is altered`);
      adopted.push({ stored, ...restored, numbered: messages.map(({ seq, message }) => ({ seq, message })) });
    } catch (error) {
      if (!(error instanceof DamagedRow)) throw error;
      store.reportDamage(error);
      log.error({ err: error, runId, agentId }, 'the stored data of a sub-agent cannot be read');
    }
  }
  return adopted;
}
