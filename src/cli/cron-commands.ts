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
  /** Adds the flags that say which daemon is meant. */
  withTarget(command: Command): Command;
}

const EXAMPLES = `
Schedules:
  "every 15m"  "every 2h30m"                   from now on, at this distance
  "in 20m"  "at 18:00"  "at 2026-12-24 18:00"  once
  "0 9 * * 1-5 Europe/Berlin"  "@daily"        minute hour day month weekday, and a time zone

Examples:
  headgate cron add "every 15m" "look for new issues and sum them up"
  headgate cron add "0 9 * * 1-5" --main "Good morning. What is due today?"
  headgate cron preview "30 2 * * * Europe/Berlin" --count 5
  headgate cron edit mail --schedule "every 1h" --approval allow=bash
  headgate cron run mail && headgate cron runs mail
  headgate cron explain mail "2026-12-24 18:00"

A job is named by its id, the beginning of one, or its name.
`;

/** `headgate cron`: what the agent does by itself. */
export function addCronCommands(program: Command, { root, around, withTarget }: CronCommandsDeps): void {
  const cron = program
    .command('cron')
    .description('jobs: what the agent does by itself, and when')
    .addHelpText('after', EXAMPLES);
  const load = () => import('./commands/cron.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  const add = (usage: string, options = {}) => withTarget(cron.command(usage, options)).option('--json', 'as JSON');
  refuseUnknown(cron, add('list', { isDefault: true }))
    .description('list the jobs, with their next run by the clocks here (also without a command)')
    .action(async (flags: ListFlags) => (await load()).listJobs(on(flags)));
  add('show')
    .description('show all of one job: what it does, when, and its policies')
    .argument('<job>', JOB)
    .action(async (which: string, flags: ListFlags) => (await load()).showJob(which, on(flags)));
  withAddOptions(add('add'))
    .description('make a job; prints its id')
    .argument('<schedule>', 'when, such as "every 15m" or "0 9 * * 1-5"')
    .argument('<message>', 'what to do')
    .action(async (...[schedule, message, flags]: [string, string, AddFlags]) =>
      (await load()).addJob(schedule, message, on(flags)),
    );
  withEditOptions(add('edit'))
    .description('change a job; what is not named stays as it is')
    .argument('<job>', JOB)
    .action(async (which: string, flags: EditJobFlags) => (await load()).editJob(which, on(flags)));
  add('rm')
    .description('remove a job; its history is kept for a while, a run in progress goes on to its end')
    .argument('<job>', JOB)
    .action(async (which: string, flags: ListFlags) => (await load()).removeJob(which, on(flags)));
  add('run')
    .description('run a job now and wait for its end')
    .argument('<job>', JOB)
    .option('--due', 'only if it is due')
    .option('--no-wait', 'do not wait for the end')
    .action(async (which: string, flags: RunJobFlags) => (await load()).runJob(which, on(flags)));
  add('runs')
    .description('show what became of its runs, the latest last')
    .argument('<job>', `${JOB}; of a job that is gone its whole id`)
    .option('--limit <n>', 'how many (1 to 5000; default 20)')
    .action(async (which: string, flags: RunsFlags) => (await load()).listRuns(which, on(flags)));
  add('preview')
    .description('show when a schedule would run')
    .argument('<schedule>', 'such as "every 15m" or "0 9 * * 1-5 Europe/Berlin"')
    .option('--count <n>', 'how many (1 to 50; default 10)')
    .option('--tz <zone>', ZONE)
    .action(async (schedule: string, flags: PreviewFlags) => (await load()).previewSchedule(schedule, on(flags)));
  add('explain')
    .description('say why a job did or did not run at a time, or what it waits for now')
    .argument('<job>', JOB)
    .argument('[when]', 'such as "2026-12-24 18:00"')
    .option('--tz <zone>', 'where clocks show that (default: the zone of this terminal)')
    .action(async (...[which, when, flags]: [string, string | undefined, ExplainFlags]) =>
      (await load()).explainJob(which, when, on(flags)),
    );
}

const JOB = 'its id, the beginning of it, or its name';
const ZONE = 'where clocks show the times of a schedule that names no zone (default: the zone of this terminal)';

/** Flags, what they mean, and what a new job has where they are left out. */
const JOB_OPTIONS: [flags: string, means: string, usual?: string][] = [
  ['--main', 'tell the main conversation, instead of working in one of its own'],
  ['--name <name>', 'what to call it', 'taken from the message'],
  [
    '--wake <when>',
    'when the main conversation hears of it: now, or next (with its next turn)',
    'next; with --main now',
  ],
  ['--thinking <level>', 'off, minimal, low, medium or high'],
  ['--timeout <time>', 'how long the answer may take', '10m'],
  ['--deliver', 'send the answer to a channel'],
  ['--channel <name>', 'which', 'the last one used'],
  ['--to <recipient>', 'to whom'],
  ['--best-effort', 'an answer that cannot be sent is no error'],
  ['--misfire <how>', 'if the daemon did not run then and is over 60 s late: once, skip, all, all=20 or within=2h'],
  ['--delete-after-run', 'forget it once it went well (schedules with one time)'],
  ['--max-run <time>', 'stop a run that takes longer', '1h'],
  ['--approval <how>', 'what needs approval: deny, wait[=10m] or allow=bash,read_file', 'deny'],
  ['--prefix <text>', 'begins the line about the result in the main conversation', 'Cron'],
];

const withAddOptions = (command: Command): Command =>
  JOB_OPTIONS.reduce(
    (so, [flags, means, usual]) => so.option(flags, usual === undefined ? means : `${means} (default: ${usual})`),
    command.option('--tz <zone>', ZONE),
  ).option('--disabled', 'switched off at first');

const withEditOptions = (command: Command): Command =>
  JOB_OPTIONS.reduce(
    (so, [flags, means]) => so.option(flags, means),
    command
      .option('--schedule <schedule>', 'when')
      .option('--tz <zone>', ZONE)
      .option('--message <text>', 'what to do'),
  )
    .option('--enable', 'switch it on')
    .option('--disable', 'switch it off')
    .option('--isolated', 'in a conversation of its own')
    .option('--no-deliver', 'keep the answer')
    .option('--no-best-effort', 'an answer that cannot be sent is an error')
    .option('--no-delete-after-run', 'keep it');
