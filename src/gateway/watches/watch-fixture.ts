import assert from 'node:assert/strict';
import type { Watch } from '../../../protocol/events/watch.ts';
import { testGuard } from '../../agent/guard/guard-fixture.ts';
import { readCommand } from '../../agent/permissions/read-command.ts';
import { BashArguments } from '../../agent/tools/shell/bash-arguments.ts';
import type { Tool, ToolOutcome, ToolRun } from '../../agent/tools/tool.ts';
import { createToolbox } from '../../agent/tools/toolbox.ts';
import type { NewWatch } from '../../agent/watches/watch-book.ts';
import type { RunRequest } from '../runs/run-record.ts';
import { insertRun } from '../runs/run-rows.ts';
import { build, statementOf } from '../store/statements.ts';
import { turnsUntil, type WholeGateway, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';

/** What a poll prints, or does. */
type Poll = string | ((run: ToolRun) => Promise<ToolOutcome>);

/** A gateway whose polls run no process: each prints the next text, and the last one again. */
export async function watchGateway(options: WholeGatewayOptions = {}) {
  const prints: Poll[] = [];
  const started: string[] = [];
  const gateway = await wholeGateway({
    ...options,
    pollToolbox: createToolbox([printing({ prints, started })], testGuard()),
  });
  const over = new AbortController();
  return Object.assign(gateway, {
    /** Starts polling; again after a restart. */
    begin(): void {
      void gateway.gateway.run(over.signal);
    },
    /** Ends the work of the gateway. Call it at the end of a test. */
    end(): void {
      over.abort(new Error('the test is over'));
    },
    prints,
    started,
    /** Creates a watch of the main session as a run of ada's does, allowed by a person unless told otherwise. */
    watch: (asked: Partial<NewWatch> = {}, by: Asker = ADA) => createWatch(gateway, asked, by),
    /** The watch when its polls are so many, and none runs. */
    async polled(watchId: string, count: number): Promise<Watch> {
      let found: Watch | undefined;
      await turnsUntil(async () => {
        found = await stored(gateway, watchId);
        const row = await gateway.store.db
          .selectFrom('watches')
          .select('is_polling')
          .where('watch_id', '=', watchId)
          .executeTakeFirst();
        return found?.poll_count === count && row?.is_polling === 0;
      }, `poll ${count}`);
      return found as Watch; // as it was just found
    },
    /** The watch when it is over. */
    async over(watchId: string): Promise<Watch> {
      let found: Watch | undefined;
      await turnsUntil(async () => {
        found = await stored(gateway, watchId);
        return found?.active === 0;
      }, 'its end');
      return found as Watch; // as it was just found
    },
    /** What watches have told the conversation. */
    async told(): Promise<string[]> {
      const events = await gateway.events(await gateway.main());
      return events.flatMap((event) => (event.type === 'user_turn' && event.source === 'agent' ? [event.message] : []));
    },
  });
}

/** Whose run creates a watch. */
interface Asker {
  principal: string;
  request: Pick<RunRequest, 'deliver' | 'fromChat' | 'editedBy'>;
}

const ADA: Asker = { principal: 'ada', request: {} };

/** `bash` without a process. */
const printing = ({ prints, started }: { prints: Poll[]; started: string[] }): Tool<BashArguments> => ({
  name: 'bash',
  description: 'Runs a command.',
  parameters: BashArguments,
  readOnly: false,
  safeToRepeat: false,
  prepare: async ({ command }, { workdir }) => ({
    kind: 'ready',
    subject: command,
    preview: command,
    approvalLabel: 'bash',
    needsApproval: true,
    reading: readCommand(command, { folder: workdir.folder.path, home: undefined }),
    matched: { command },
    async execute(run) {
      started.push(command);
      await run.onProcess({ pid: 1, startTicks: 1 });
      const next = (prints.length > 1 ? prints.shift() : prints[0]) ?? '';
      return typeof next === 'string' ? { output: next, outcome: 'done', exitCode: 0 } : next(run);
    },
  }),
});

/** As the tool does in a run of ada's, which is there only while the watch is created. */
async function createWatch(gateway: WholeGateway, asked: Partial<NewWatch>, by: Asker): Promise<Watch> {
  const { store, background } = gateway;
  const wsId = asked.wsId ?? (await gateway.main());
  const runId = `run_${++runs}`;
  const request = { message: 'watch it', rights: 'approve' as const, ...by.request };
  const run = { runId, wsId, principal: by.principal, source: 'person', request, epoch: 0, acceptedMs: 0 } as const;
  await store.commit({ statements: [insertRun(run, 'running')] });
  const created = await background.watches.records.create({
    wsId,
    name: 'it',
    command: 'make status',
    intervalSecs: 60,
    stopOn: undefined,
    maxPolls: 100,
    allowed: { by: 'person', reason: 'tool' },
    ...asked,
  });
  await store.commit({ statements: [statementOf(build.deleteFrom('runs').where('run_id', '=', runId))] });
  return created ?? assert.fail('five are active');
}

let runs = 0;

async function stored(gateway: WholeGateway, watchId: string): Promise<Watch | undefined> {
  const { watches } = await gateway.call('watch.list', { ended: true });
  return watches.find(({ watch_id }) => watch_id === watchId);
}
