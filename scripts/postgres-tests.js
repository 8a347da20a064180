// `npm run test:postgres`: the unit tests of what the gateway stores, with their stores in PostgreSQL. `npm test` runs them, too.
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findPostgres } from '../src/testing/find-postgres.ts';
import { COMPILED, ROOT, tellCounts, watch } from './check.js';
import { runTests } from './run-tests.js';
import { SKIP_TAGS } from './skips.js';

/**
 * At least one file for each part that has statements of its own. Not those that count turns of the event loop until a row is
 * read: a server needs more of them.
 */
const FOLDERS = {
  agents: ['sub-agents-stop'],
  attachments: ['attachments', 'whole-files'],
  audit: ['audit-trail'],
  channels: ['inbox/chat-rows', 'chats/pairing', 'ledger/forget-chats', 'run-delivery'],
  coordinators: ['coordinators'],
  cron: ['sql-ledger', 'forget-occurrences', 'calendar', 'jobs-elsewhere'],
  cuts: ['forks', 'rewinds', 'resend'],
  history: ['history', 'notes', 'chat-history'],
  judge: ['judge'],
  methods: ['usage', 'memory'],
  listing: ['expired-workstreams', 'saved-workstreams'],
  memories: ['memories', 'agent-memories', 'private-memories'],
  portable: ['portable'],
  queue: ['queue-hold'],
  recall: ['message-recall', 'message-search'],
  runs: ['prefix-rows', 'recovery', 'trust-rows'],
  sharing: ['sharing'],
  skills: ['skills'],
  templates: ['templates'],
  usage: ['budgets', 'budget-question'],
  users: ['users'],
  wake: ['main-session'],
};
const FILES = Object.entries(FOLDERS).flatMap(([folder, names]) =>
  names.map((name) => `src/gateway/${folder}/${name}.test.ts`),
);

/** The minimum number of tests. */
const FLOOR = 270;
const OVER_POSTGRES = pathToFileURL(path.join(ROOT, 'src/testing/over-postgres.ts')).href;

/** Two processes, each with a server of its own. */
const BATCHES = [0, 1].map((part) => FILES.filter((_, index) => index % 2 === part));

/** Without PostgreSQL, all of them are skipped, which fails in CI. */
export async function runPostgresTests({ isCi, environment = {} }) {
  const name = 'unit (over PostgreSQL)';
  if ((await findPostgres()) === undefined) {
    const reason = 'PostgreSQL is not installed (apt-get install postgresql)';
    const skips = FILES.map((file) => ({ file, name: file, outcome: 'skipped', reason, tags: [SKIP_TAGS.missing] }));
    const counts = { passed: 0, failed: isCi ? skips.length : 0, skipped: isCi ? 0 : skips.length };
    return { name, ...counts, skips, files: FILES.length, seconds: 0, slowest: [], ok: !isCi };
  }
  const environmentOf = () => ({
    ...environment,
    ...COMPILED,
    NODE_OPTIONS: [process.env.NODE_OPTIONS, `--import=${OVER_POSTGRES}`].filter(Boolean).join(' '),
    NODE_V8_COVERAGE: undefined,
  });
  return runTests({ name, batches: BATCHES, atLeast: FLOOR, watch, isCi, environmentOf });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(ROOT);
  const result = await runPostgresTests({ isCi: process.env.CI === 'true' });
  tellCounts(result);
  process.exitCode = result.ok ? 0 : 1;
}
