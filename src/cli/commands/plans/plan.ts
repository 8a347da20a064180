import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { PlanOutcome } from '../../../../protocol/events/questions/asked-plan.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { NotFoundError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';

export interface PlanListFlags extends TargetFlags {
  json?: boolean;
}

interface CommandOf<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

type Waiting = Result<'approval.list'>['approvals'][number];

/** Prints all plans that wait, with their ids. */
export async function listPlans(command: CommandOf<PlanListFlags>): Promise<void> {
  const plans = await ask(command, plansIn);
  if (command.flags.json) process.stdout.write(`${JSON.stringify(plans, null, 2)}\n`);
  else if (plans.length === 0) process.stderr.write('No plan waits.\n');
  else process.stdout.write(`${plans.map(toText).join('\n\n')}\n`);
}

export async function answerPlan(id: string, feedback: string, command: CommandOf): Promise<void> {
  const outcome = await ask(command, async (client) => {
    const found = (await plansIn(client)).find(({ approvalId }) => approvalId === id);
    if (!found) throw new NotFoundError(`No plan with the id ${id} waits. "headgate plan" lists them.`);
    return (await client.call('plan.resolve', { wsId: found.wsId, feedback, approvalId: id })).outcome;
  });
  process.stderr.write(`${WORDS[outcome ?? 'rejected']}\n`);
}

/** Words that reject a plan are no wish for another one. */
export async function revisePlan(id: string, words: string, command: CommandOf): Promise<void> {
  if (words.trim() === '') throw new UsageError('Say what should change in the plan.');
  await answerPlan(id, words, command);
}

const WORDS: Record<PlanOutcome, string> = {
  approved: 'Approved. The agent carries the plan out.',
  rejected: 'Rejected.',
  revised: 'The agent writes another plan.',
};

const plansIn = async (client: GatewayClient): Promise<Waiting[]> =>
  (await client.call('approval.list', {})).approvals.filter(({ kind }) => kind === 'plan');

function toText({ approvalId, sessionKey, items }: Waiting): string {
  const [item] = items;
  const { content = '', round = 1 } = item?.plan ?? {};
  const title = `${approvalId}  ${sessionKey}  ${round === 1 ? 'first plan' : `revision ${round - 1}`}`;
  return toSafeText(`${title}\n\n${content}`);
}

async function ask<T>({ flags, around, root }: CommandOf, work: (client: GatewayClient) => Promise<T>): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}
