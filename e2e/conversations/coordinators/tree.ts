import { GatewayError } from '../../../protocol/errors.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import { DAEMON } from '../../../src/gateway/sharing/perception.ts';
import { createRandom } from '../../checker/random.ts';
import type { Talk } from '../talk.ts';
import { answersIn, findLedgerProblems } from './children.ts';

/** The children that the coordinator may have made, by their numbers. */
export const plannedChildren = ({ witness, machine }: Talk): number[] => witness.children.planned(machine.dir);

/** Those that are open. `isOwn`: it still works for the coordinator. */
export function openChildren({
  witness,
  machine,
  wsId: lead,
}: Talk): { number: number; wsId: string; isOwn: boolean }[] {
  return witness.children.stored(machine.dir).flatMap(({ number, wsId = '' }) => {
    const found = machine.parts.workstreams.find(wsId, DAEMON);
    return found ? [{ number, wsId, isOwn: found.data.parentWsId === lead }] : [];
  });
}

/** Answers the oldest question of a child, always in the same way; whether there was one. */
export async function answerChild(talk: Talk): Promise<boolean> {
  const asked = talk.machine.parts.approvals.list(DAEMON).find(({ wsId }) => wsId !== talk.wsId);
  if (asked) await decide(talk, asked);
  return asked !== undefined;
}

async function decide({ machine }: Talk, { approvalId, items }: Pick<Approval, 'approvalId' | 'items'>): Promise<void> {
  const random = createRandom(Number(/\d+/.exec(JSON.stringify(items.map(({ header }) => header)))?.[0] ?? 1));
  try {
    await machine.call('approval.resolve', { approvalId, approved: random.chance(0.7) });
  } catch (error) {
    if (!(error instanceof GatewayError && error.code === 'CONFLICT')) throw error; // its coordinator stopped it meanwhile
  }
}

/** Until no child runs any more. */
export async function settleChildren(talk: Talk): Promise<void> {
  await talk.settle({ withChildren: true });
}

/** Whether anything runs on its machine. */
export const isAnyBusy = ({ machine }: Talk): boolean =>
  machine.parts.workstreams.list(DAEMON).some(({ busy }) => busy);

/** Checks the stored runs of all children, and that their coordinator was told only what they said. */
export async function checkChildren(talk: Talk): Promise<void> {
  const { witness, machine, wsId } = talk;
  await settleChildren(talk);
  const children = witness.children.stored(machine.dir);
  for (const problem of findLedgerProblems(children)) witness.violate(problem);
  for (const told of answersIn(machine.dir, wsId)) {
    const child = children.find((one) => one.wsId === told.wsId);
    const hasSaid = child && [...child.said].some((text) => told.text.startsWith(text) || text.startsWith(told.text));
    if (!hasSaid) witness.violate(`"${told.text}" came from child ${child?.number}, which did not say it`);
  }
}
