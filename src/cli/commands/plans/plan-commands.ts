import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { PlanListFlags } from './plan.ts';

interface PlanCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate plan`, for the plans that wait for a person. */
export function addPlanCommands(program: Command, { root, around, withTarget }: PlanCommandsDeps): void {
  const plan = program.command('plan').description('see and answer plans that wait for a decision');
  const load = () => import('./plan.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(plan, withTarget(plan.command('list', { isDefault: true })))
    .description('print the plans that wait (the default command)')
    .option('--json', 'print JSON')
    .action(async (flags: PlanListFlags) => (await load()).listPlans(on(flags)));
  const answering = (name: string, description: string) =>
    withTarget(plan.command(name)).description(description).argument('<plan>', 'id of the plan, as the list shows it');
  answering('approve', 'approve a plan, so that the agent carries it out').action(
    async (id: string, flags: TargetFlags) => (await load()).answerPlan(id, '', on(flags)),
  );
  answering('reject', 'reject a plan').action(async (id: string, flags: TargetFlags) =>
    (await load()).answerPlan(id, 'reject', on(flags)),
  );
  answering('revise', 'ask for another plan')
    .argument('<words>', 'what should change')
    .action(async (id: string, words: string, flags: TargetFlags) => (await load()).revisePlan(id, words, on(flags)));
}
