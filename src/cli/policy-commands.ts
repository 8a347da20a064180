import type { Command } from 'commander';
import type { Surroundings } from '../home/home-path.ts';
import type { AddPolicyFlags, ChangePolicyFlags, JsonFlags, SimulateFlags } from './commands/deciding/policy.ts';
import type { RecordFlags } from './commands/deciding/record-flags.ts';
import type { AddRuleFlags, ChangeRuleFlags, SimulateRulesFlags } from './commands/deciding/rule.ts';
import type { TargetFlags } from './connect.ts';
import { refuseUnknown } from './default-command.ts';

interface PolicyCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate policy`, for the rules about calls of tools. */
export function addPolicyCommands(program: Command, { root, around, withTarget }: PolicyCommandsDeps): void {
  const policy = program
    .command('policy')
    .description('manage the rules about which calls of tools run, ask or are blocked');
  const load = () => import('./commands/deciding/policy.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(policy, withTarget(policy.command('list', { isDefault: true })))
    .description('list the policies in the order in which they decide (the default command)')
    .option('--json', 'print JSON')
    .action(async (flags: JsonFlags) => (await load()).listPolicies(on(flags)));
  withTarget(policy.command('add'))
    .description('add a policy and print its id; it counts for the next call of every run')
    .argument('<action>', 'allow, deny or ask')
    .argument('<pattern>', 'name of a tool or of its question, with * and ?, such as node*')
    .option('--name <name>', 'name to show (default: action and pattern)')
    .option('--priority <n>', 'the highest one decides first (default: 0)')
    .option('--disabled', 'without an effect until it is enabled')
    .action(async (action: string, pattern: string, flags: AddPolicyFlags) =>
      (await load()).addPolicy({ action, pattern }, on(flags)),
    );
  withTarget(policy.command('change'))
    .description('change a policy')
    .argument('<policy>', 'id or name')
    .option('--name <name>', 'new name')
    .option('--pattern <pattern>', 'new pattern')
    .option('--action <action>', 'allow, deny or ask')
    .option('--priority <n>', 'new priority')
    .option('--enable', 'put it into effect')
    .option('--disable', 'take it out of effect')
    .action(async (which: string, flags: ChangePolicyFlags) => (await load()).changePolicy(which, on(flags)));
  withTarget(policy.command('remove'))
    .description('remove a policy')
    .argument('<policy>', 'id or name')
    .action(async (which: string, flags: TargetFlags) => (await load()).removePolicy(which, on(flags)));
  withTarget(policy.command('simulate'))
    .description('show which of the latest calls other policies would have decided otherwise; changes nothing')
    .option('--add <rule...>', 'a policy to try: ACTION:PATTERN or ACTION:PATTERN:PRIORITY')
    .option('--without <policy...>', 'a policy to leave out, by id or name')
    .option('--limit <n>', 'how many calls, at most 1000', '200')
    .option('--json', 'print one JSON object')
    .action(async (flags: SimulateFlags) => (await load()).simulatePolicies(on(flags)));
}

/** Adds `headgate rule`, for the permission rules. */
export function addRuleCommands(program: Command, { root, around, withTarget }: PolicyCommandsDeps): void {
  const rule = program.command('rule').description('manage the rules about what calls do: programs, files, hosts');
  const load = () => import('./commands/deciding/rule.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(rule, withTarget(rule.command('list', { isDefault: true })))
    .description('list the rules in the order in which they decide (the default command)')
    .option('--json', 'print JSON')
    .action(async (flags: JsonFlags) => (await load()).listRules(on(flags)));
  withPlace(withMatch(withTarget(rule.command('add'))))
    .description('add a rule and print its id; it counts for the next call of every run')
    .argument('<action>', 'allow, deny or ask')
    .option('--hours <n>', 'how long it holds (default: without end)')
    .option('--json', 'print the rule as JSON')
    .action(async (action: string, flags: AddRuleFlags) => (await load()).addRule(action, on(flags)));
  withTarget(rule.command('change'))
    .description('change a rule; about other calls, or in another place, it is another rule')
    .argument('<rule>', 'its id')
    .option('--action <action>', 'allow, deny or ask')
    .option('--priority <n>', 'new priority')
    .option('--hours <n>', 'how long it holds from now on')
    .option('--no-end', 'it holds without end')
    .option('--json', 'print the rule as JSON')
    .action(async (ruleId: string, flags: ChangeRuleFlags) => (await load()).changeRule(ruleId, on(flags)));
  withPlace(withMatch(withTarget(rule.command('simulate'))))
    .description('show which of the latest calls other rules would have decided otherwise; changes nothing')
    .argument('[action]', 'that of a rule to try: allow, deny or ask')
    .option('--without <rule...>', 'a rule to leave out, by its id')
    .option('--limit <n>', 'how many calls, at most 1000', '200')
    .option('--json', 'print one JSON object')
    .action(async (action: string | undefined, flags: SimulateRulesFlags) =>
      (await load()).simulateRules(action, on(flags)),
    );
  withTarget(rule.command('remove'))
    .description('remove a rule')
    .argument('<rule>', 'its id')
    .action(async (ruleId: string, flags: TargetFlags) => (await load()).removeRule(ruleId, on(flags)));
}

/** Adds the flags that say which calls a rule is about. */
const withMatch = (command: Command): Command =>
  command
    .option('--program <name>', 'a program, wherever it stands in a command')
    .option('--args <arg...>', 'all arguments of the program; those with a dash: --args=--force')
    .option('--args-start <arg...>', 'its first arguments; those with a dash: --args-start=--force')
    .option('--command <text>', 'the exact text of a command')
    .option('--path <path>', 'a file, or a folder with everything below it')
    .option('--access <how>', 'read or write (default: both)')
    .option('--host <name>', 'a host, or *.example.org')
    .option('--tool <pattern>', 'name of a tool or of its question, with * and ?')
    .option('--node <id>', 'a node')
    .option('--node-command <name>', 'a command of a node');

/** Adds the flags that say where a rule holds, and before which others. */
const withPlace = (command: Command): Command =>
  command
    .option('--workstream <id>', 'only in this workstream')
    .option('--folder <path>', 'only in this working directory and below')
    .option('--user <id>', 'only in workstreams of this user')
    .option('--priority <n>', 'the highest one decides first; deny stands above all (default: 0)');

/** Adds `headgate verdicts` and `headgate assessments`, the records of the judge and of the output guard. */
export function addRecordCommands(program: Command, { root, around, withTarget }: PolicyCommandsDeps): void {
  const on = <F>(flags: F) => ({ flags, around, root });
  withTarget(program.command('verdicts'))
    .description('list what the judge said about calls, and what was decided')
    .option('--risk <level>', 'only low, medium, high or critical ones')
    .option('--workstream <id>', 'only those of one workstream')
    .option('--limit <n>', 'how many, at most 500', '50')
    .option('--json', 'print JSON')
    .action(async (flags: RecordFlags) => (await import('./commands/deciding/verdict.ts')).listVerdicts(on(flags)));
  withTarget(program.command('assessments'))
    .description('list what the output guard found in outputs of calls')
    .option('--risk <level>', 'only low, medium or high ones')
    .option('--workstream <id>', 'only those of one workstream')
    .option('--limit <n>', 'how many, at most 500', '50')
    .option('--json', 'print JSON')
    .action(async (flags: RecordFlags) =>
      (await import('./commands/deciding/assessment.ts')).listAssessments(on(flags)),
    );
}
