import type { Command } from 'commander';
import type { Surroundings } from '../home/home-path.ts';
import type {
  AddFlags,
  EditJobFlags,
  ExplainFlags,
  ListFlags,
  PreviewFlags,
  RunJobFlags,
  RunsFlags,
} from './commands/cron.ts';
import { refuseUnknown } from './default-command.ts';

interface CronCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

const EXAMPLES = `
Schedules:
  "every 15m"  "every 2h30m"                   repeatedly, from now on
  "in 20m"  "at 18:00"  "at 2026-12-24 18:00"  once
  "0 9 * * 1-5 Europe/Berlin"  "@daily"        minute hour day month weekday, and a time zone

Examples:
  headgate cron add "every 15m" "look for new issues and sum them up"
  headgate cron add "0 9 * * 1-5" --main "Good morning. What is due today?"
  headgate cron preview "30 2 * * * Europe/Berlin" --count 5
  headgate cron edit mail --schedule "every 1h" --approval allow=bash
  headgate cron run mail && headgate cron runs mail
  headgate cron explain mail "2026-12-24 18:00"

Name a job by its id, the beginning of its id, or its name.
`;

/** Adds `headgate cron`, the commands for scheduled jobs. */
export function addCronCommands(program: Command, { root, around, withTarget }: CronCommandsDeps): void {
  const cron = program.command('cron').description('manage scheduled jobs of the agent').addHelpText('after', EXAMPLES);
  const load = () => import('./commands/cron.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  const add = (usage: string, options = {}) => withTarget(cron.command(usage, options)).option('--json', 'print JSON');
  refuseUnknown(cron, add('list', { isDefault: true }))
    .description('list the jobs, with their next run in local time (the default command)')
    .action(async (flags: ListFlags) => (await load()).listJobs(on(flags)));
  add('show')
    .description('show one job in full: task, schedule and policies')
    .argument('<job>', JOB)
    .action(async (which: string, flags: ListFlags) => (await load()).showJob(which, on(flags)));
  withAddOptions(add('add'))
    .description('create a job and print its id')
    .argument('<schedule>', 'when to run, such as "every 15m" or "0 9 * * 1-5"')
    .argument('<message>', 'task for the agent')
    .action(async (...[schedule, message, flags]: [string, string, AddFlags]) =>
      (await load()).addJob(schedule, message, on(flags)),
    );
  withEditOptions(add('edit'))
    .description('change the given settings of a job')
    .argument('<job>', JOB)
    .action(async (which: string, flags: EditJobFlags) => (await load()).editJob(which, on(flags)));
  add('rm')
    .description('remove a job; its history is kept for a while, and a run in progress continues to its end')
    .argument('<job>', JOB)
    .action(async (which: string, flags: ListFlags) => (await load()).removeJob(which, on(flags)));
  add('run')
    .description('run a job now and wait until it ends')
    .argument('<job>', JOB)
    .option('--due', 'run the job only if it is due')
    .option('--no-wait', 'do not wait until the run ends')
    .action(async (which: string, flags: RunJobFlags) => (await load()).runJob(which, on(flags)));
  add('runs')
    .description('list the runs of a job, latest last')
    .argument('<job>', `${JOB}; for a removed job, its full id`)
    .option('--limit <n>', 'how many runs to list (1 to 5000; default 20)')
    .action(async (which: string, flags: RunsFlags) => (await load()).listRuns(which, on(flags)));
  add('preview')
    .description('show when a schedule would run, without creating a job')
    .argument('<schedule>', 'schedule, such as "every 15m" or "0 9 * * 1-5 Europe/Berlin"')
    .option('--count <n>', 'how many times to show (1 to 50; default 10)')
    .option('--tz <zone>', ZONE)
    .action(async (schedule: string, flags: PreviewFlags) => (await load()).previewSchedule(schedule, on(flags)));
  add('explain')
    .description('explain why a job did or did not run at a time, or what it waits for now')
    .argument('<job>', JOB)
    .argument('[when]', 'time, such as "2026-12-24 18:00" (default: now)')
    .option('--tz <zone>', 'time zone of [when] (default: the zone of this terminal)')
    .action(async (...[which, when, flags]: [string, string | undefined, ExplainFlags]) =>
      (await load()).explainJob(which, when, on(flags)),
    );
}

const JOB = 'id, beginning of an id, or name of a job';
const ZONE = 'time zone of a schedule that names none (default: the zone of this terminal)';

/** Flags, what they mean, and their default for a new job. */
const JOB_OPTIONS: [flags: string, means: string, usual?: string][] = [
  ['--main', 'give the message to the main conversation, instead of running in a separate one'],
  ['--name <name>', 'name of the job', 'taken from the message'],
  [
    '--wake <when>',
    'when to notify the main conversation: now, or next (with its next turn)',
    'next, or now with --main',
  ],
  ['--thinking <level>', 'how much the model thinks: off, minimal, low, medium or high'],
  ['--timeout <time>', 'time limit for the answer', '10m'],
  ['--deliver', 'send the answer to a channel'],
  ['--channel <name>', 'channel for the answer', 'the last one used'],
  ['--to <recipient>', 'recipient in the channel'],
  ['--best-effort', 'do not fail if the answer cannot be sent'],
  ['--misfire <how>', 'what to do about times missed by over 60 s: once, skip, all, all=20 or within=2h'],
  ['--delete-after-run', 'delete the job after its first success (one-time schedules)'],
  ['--max-run <time>', 'stop a run that takes longer', '1h'],
  ['--approval <how>', 'what to do about calls that need approval: deny, wait[=10m] or allow=bash,read_file', 'deny'],
  ['--prefix <text>', 'start of the result line in the main conversation', 'Cron'],
];

const withAddOptions = (command: Command): Command =>
  JOB_OPTIONS.reduce(
    (so, [flags, means, usual]) => so.option(flags, usual === undefined ? means : `${means} (default: ${usual})`),
    command.option('--tz <zone>', ZONE),
  )
    .option('--node <id>', 'machine that runs the job (default: the one with the fewest jobs)')
    .option('--disabled', 'create the job switched off');

const withEditOptions = (command: Command): Command =>
  JOB_OPTIONS.reduce(
    (so, [flags, means]) => so.option(flags, means),
    command
      .option('--schedule <schedule>', 'new schedule')
      .option('--tz <zone>', ZONE)
      .option('--message <text>', 'new task'),
  )
    .option('--enable', 'switch the job on')
    .option('--disable', 'switch the job off')
    .option('--isolated', 'run in a separate conversation')
    .option('--no-deliver', 'do not send the answer to a channel')
    .option('--no-best-effort', 'fail if the answer cannot be sent')
    .option('--no-delete-after-run', 'keep the job after its run');
