import { DAEMON } from '../../../src/gateway/sharing/perception.ts';
import type { Random } from '../../checker/random.ts';
import { scriptTurn } from '../scripted-turns.ts';
import type { Talk } from '../talk.ts';

/** The result of a watch comes as a message, as deliveries accept it: of the agent, and perhaps untrusted. */
export async function watchResult(talk: Talk, random: Random): Promise<void> {
  const { machine, wsId } = talk;
  const { runs, workstreams } = machine.parts;
  const taint = random.chance(0.5) && { taint: { kind: 'network' as const, target: 'a.example' } };
  scriptTurn(talk, random);
  talk.isStopped = false;
  await runs.accept(await workstreams.get(wsId, DAEMON), {
    message: `[watch "build" · poll #1/3] ${talk.nextMessage()}`,
    ...{ principal: 'local', rights: 'approve' as const, source: 'agent' as const },
    request: { watch: { id: `wat_${random.int(1, 1_000_000)}`, ...taint } },
    also: () => [],
  });
  await talk.settle();
  await talk.checkEnd();
}
