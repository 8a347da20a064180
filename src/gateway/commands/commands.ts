import { AsyncLocalStorage } from 'node:async_hooks';
import { type CommandName, isCommandName } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import { findStepUp } from '../../../protocol/methods/accounts/step-up.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { ToolServers } from '../../agent/mcp/tool-servers.ts';
import { isAsked, type Message } from '../../agent/message.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { ModelWindows } from '../../agent/run/window/model-windows.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { Background } from '../background/background-records.ts';
import type { Compactions } from '../cuts/compactions.ts';
import { copyInBatches } from '../cuts/copy-conversation.ts';
import { countOf, toParts } from '../cuts/cut.ts';
import { readCuts } from '../cuts/cut-rows.ts';
import type { Forks } from '../cuts/forks.ts';
import type { Rewinds } from '../cuts/rewinds.ts';
import { newestWithin, toHistory } from '../history/history.ts';
import type { Messages } from '../history/messages.ts';
import { readContext } from '../history/read-context.ts';
import type { SavedWorkstreams } from '../listing/saved-workstreams.ts';
import type { LiveSettings } from '../live-settings.ts';
import { createMcpCommand } from '../mcp/mcp-command.ts';
import { createPromptCommand } from '../mcp/prompt-command.ts';
import { requireRights } from '../required-rights.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import type { Runs } from '../runs/runs.ts';
import type { UsableSkills } from '../skills/agent-skills.ts';
import type { Statement, Store } from '../store/store.ts';
import { copyTemplates } from '../templates/applied-templates.ts';
import type { Templates } from '../templates/templates.ts';
import type { Budgets } from '../usage/budgets.ts';
import type { HiddenWorkstreams } from '../workstreams/hidden-workstreams.ts';
import type { Settings } from '../workstreams/settings.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { countCurrent } from '../workstreams/workstream-data.ts';
import { toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import { createBackgroundCommand } from './background-command.ts';
import { createBudgetCommand } from './budget-command.ts';
import { type Command, type CommandCaller, type ReasonIn, ToldToCaller } from './command.ts';
import { methodOf } from './command-methods.ts';
import { helpText, SHOWN, unknownCommand } from './command-texts.ts';
import { createFileCommands } from './file-commands.ts';
import { createListCommands } from './list-commands.ts';
import { createModeCommand } from './mode-command.ts';
import { createModelCommands } from './model-commands.ts';
import { createNameCommand } from './name-command.ts';
import { beginContext, endAlways } from './new-context.ts';
import { createResumeCommand } from './resume-command.ts';
import { createShareCommand } from './share-command.ts';
import { createSkillCommand } from './skill-command.ts';
import { createSteerCommand } from './steer-command.ts';
import { createTakeBackCommands, type TakeBack } from './take-back-commands.ts';
import { createTemplateCommand } from './template-command.ts';
import { createToolsCommand } from './tools-command.ts';
import { createWatchesCommand } from './watches-command.ts';

export interface CommandDeps {
  store: Store;
  messages: Messages;
  settings: Settings;
  rewinds: Rewinds;
  forks: Forks;
  compactions: Compactions;
  live: Pick<LiveSettings, 'visibility'>;
  hidden: Pick<HiddenWorkstreams, 'make'>;
  runs: Pick<Runs, 'accept'>;
  budgets: Pick<Budgets, 'list'>;
  templates: Pick<Templates, 'choose' | 'load' | 'prompts'>;
  saved: SavedWorkstreams;
  background: Background;
  skills: Pick<UsableSkills, 'look' | 'find' | 'choose'>;
  models: Models;
  windows: Pick<ModelWindows, 'of'>;
  toolbox: Pick<Toolbox, 'definitions' | 'forCoordinators'>;
  toolServers: Pick<ToolServers, 'prompts'>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** The slash commands of a conversation. Their output is sent as `info` events. */
export class Commands {
  readonly #deps: CommandDeps;
  readonly #commands: Record<CommandName, Command>;
  /** What the commands of a call say, for a caller who does not follow the workstream. */
  readonly #said = new AsyncLocalStorage<string[]>();

  constructor(deps: CommandDeps) {
    this.#deps = deps;
    const takeBack = createTakeBackCommands({ rewinds: deps.rewinds, forks: deps.forks, live: deps.live });
    const say = (to: Workstream, text: string) => this.#say(to, text);
    const { model, effort } = createModelCommands(deps, say);
    const template = createTemplateCommand(deps.templates, say);
    this.#commands = {
      help: { when: 'always', run: (_argument, workstream) => this.#say(workstream, helpText()) },
      clear: { when: 'alone', run: (_argument, workstream) => this.#clear(workstream, []) },
      new: { when: 'alone', run: (_argument, workstream) => this.#saveAndBeginAfresh(workstream) },
      model: { when: 'always', run: model },
      effort: { when: 'always', run: effort },
      resume: { when: 'alone', run: createResumeCommand(deps) },
      name: { when: 'always', run: createNameCommand(deps, say) },
      mode: { when: 'always', run: createModeCommand(say) },
      share: { when: 'always', run: createShareCommand(say) },
      retry: this.#taking(takeBack.retry),
      rewind: this.#taking(takeBack.rewind),
      ...createFileCommands(say),
      edit: this.#taking(takeBack.edit),
      remove: this.#taking(takeBack.remove),
      fork: this.#taking(takeBack.fork),
      steer: { when: 'always', run: createSteerCommand(deps.runs) },
      budget: { when: 'always', run: createBudgetCommand(deps.budgets, say) },
      background: { when: 'always', run: createBackgroundCommand(deps, say) },
      watches: { when: 'always', run: createWatchesCommand(deps, say) },
      tools: { when: 'always', run: createToolsCommand(deps, say) },
      prompt: { when: 'always', run: createPromptCommand(deps, say) },
      mcp: { when: 'always', run: createMcpCommand(say) },
      template: { when: 'always', run: template },
      skill: { when: 'always', run: createSkillCommand(deps, say, template) },
      reason: { when: 'always', run: (word, workstream) => effort(word === 'med' ? 'medium' : word, workstream) },
      ...createListCommands(deps, say),
      compact: {
        when: 'idle',
        run: async (focus, workstream, { principal }) => deps.compactions.start(workstream, { focus, principal }),
      },
    };
  }

  /**
   * Executes a command. A failure becomes an event and does not reject, because the request itself was valid; returns its
   * reason. It rejects where a browser has to prove first who the person is: it then sends the same command again.
   */
  async run(workstream: Workstream, line: string, by: CommandCaller): Promise<string | undefined> {
    const [, word = '', argument = ''] = /^\/?(\S+)(?:\s+(\S[\s\S]*)?)?$/.exec(line.trim()) ?? [];
    if (!isCommandName(word)) return this.#refuse(workstream, unknownCommand(word));
    const command = this.#commands[word];
    let failure: string | undefined;
    const work = async () => {
      failure = await this.#attempt(workstream, () => {
        const method = methodOf[word](argument.trim());
        requireRights(by.call.principal, CONTRACTS[method], method);
        return command.run(argument.trim(), workstream, by);
      });
    };
    const isRun =
      command.when === 'alone'
        ? await workstream.whileIdle('command', work)
        : await this.#unlessBusy(command, { workstream, work });
    if (isRun) return failure;
    return this.#refuse(
      workstream,
      `/${word} is not possible while an answer is in progress. Wait for its end, or cancel it.`,
    );
  }

  /** The same for a caller who does not follow the workstream: returns what the command says, or why it failed. */
  async answer(workstream: Workstream, line: string, by: CommandCaller): Promise<string> {
    const said: string[] = [];
    const failure = await this.#said.run(said, () => this.run(workstream, line, by));
    return [...said, ...(failure === undefined || said.includes(failure) ? [] : [failure])].join('\n');
  }

  async #unlessBusy({ when }: Command, { workstream, work }: { workstream: Workstream; work: () => Promise<void> }) {
    if (when === 'idle' && workstream.busy) return false;
    await work();
    return true;
  }

  #taking(takeBack: TakeBack): Command {
    return {
      when: 'idle',
      run: async (argument, workstream, by) => {
        const told = await takeBack(argument, workstream, by);
        if (told !== undefined) await this.#say(workstream, told);
      },
    };
  }

  /**
   * Like `/new`: saves the conversation and starts an empty one under the same ws_id. False while a run is in progress.
   * `also` is committed together with the new beginning.
   */
  startAfresh(workstream: Workstream, also: Statement[] = []): Promise<boolean> {
    return workstream.whileIdle('command', () => this.#saveAndBeginAfresh(workstream, also));
  }

  /** Like `/clear`: empties the model's context without saving the conversation. The rest as for `startAfresh`. */
  clear(workstream: Workstream, also: Statement[] = []): Promise<boolean> {
    return workstream.whileIdle('command', () => this.#clear(workstream, also));
  }

  /** Empties only the context, if there is a reason, which people then see. False while a run is in progress. */
  clearIf(workstream: Workstream, reasonIn: ReasonIn): Promise<boolean> {
    return workstream.whileIdle('command', async () => {
      const reason = await reasonIn(await this.#contextOf(workstream));
      if (reason !== undefined) await this.#clearContext(workstream, [], [{ type: 'info', message: reason }]);
    });
  }

  /**
   * Shortens the context to about the last `keep` messages, beginning at a question, so that no answer loses its
   * question. Returns how many are left, undefined when nothing was dropped; false while a run is in progress.
   */
  async compact(workstream: Workstream, keep: number): Promise<{ kept: number | undefined } | false> {
    const { data } = workstream;
    let kept: number | undefined;
    const isDone = await workstream.whileIdle('command', async () => {
      const range = { after: data.contextAfterSeq, upTo: data.messageCount, limit: keep };
      const newest = await this.#deps.messages.page(data.wsId, range);
      const first = newest.find(({ message }) => isAsked(message))?.seq;
      if (first === undefined || first === (await this.#deps.messages.firstSeq(data.wsId, range))) return;
      const shown = newestWithin(toHistory(newest.filter(({ seq }) => seq >= first)), SHOWN.chars);
      await this.#beginAfter(workstream, first - 1, { events: [{ type: 'history', messages: shown }] });
      kept = countCurrent(data);
    });
    return isDone && { kept };
  }

  /** Empty when it is damaged: the runs then end with that error. */
  async #contextOf({ data }: Workstream): Promise<readonly Message[]> {
    return (
      (await readContext(data, { loadContext: () => this.#deps.messages.context(data), log: this.#deps.log })) ?? []
    );
  }

  /** Returns why it failed. */
  async #attempt(workstream: Workstream, work: () => Promise<void>): Promise<string | undefined> {
    try {
      await work();
      return undefined;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code === 'UNAVAILABLE' || findStepUp(error.details)) throw error;
      const told = error instanceof ToldToCaller ? 'who entered it is told why it failed.' : error.message;
      await this.#append(workstream, [{ type: 'error', message: `Command error: ${told}` }]);
      return error.message;
    }
  }

  async #clear(workstream: Workstream, before: Statement[], told: StreamEvent[] = []): Promise<void> {
    await workstream.endBackground('reset');
    const unnamed = setWorkstream(workstream.data.wsId, { title: null }); // the next first message gives it a title
    await this.#clearContext(workstream, [...before, unnamed], told);
    workstream.data.title = null;
  }

  async #clearContext(workstream: Workstream, before: Statement[], told: StreamEvent[]): Promise<void> {
    const { data } = workstream;
    const over = endAlways(data);
    const statements = [...before, ...over.statements];
    await this.#beginAfter(workstream, data.messageCount, { statements, events: [...over.events, ...told] });
    data.endGrants();
  }

  /** Begins the context, and what clients show, after this message; `also` is committed with it. */
  async #beginAfter(workstream: Workstream, after: number, also: { statements?: Statement[]; events: StreamEvent[] }) {
    const { data } = workstream;
    const { cuts } = await readCuts(this.#deps.store, data.wsId);
    const range = { after, upTo: data.messageCount };
    const cutCount = range.upTo - after - countOf(toParts(cuts, range, 'original'));
    await this.#deps.store.commit({
      statements: [...(also.statements ?? []), ...beginContext(data.wsId, { after, cutCount })],
      events: { wsId: data.wsId, events: [{ type: 'clear_ui', after_seq: after }, ...also.events] },
    });
    data.contextAfterSeq = after;
    data.cutCount = cutCount;
    data.usage = undefined;
    workstream.context.forget();
  }

  async #saveAndBeginAfresh(workstream: Workstream, also: Statement[] = []): Promise<void> {
    const { ids, clock } = this.#deps;
    const { data } = workstream;
    if (countCurrent(data) === 0) return this.#clear(workstream, also);
    const row = toWorkstreamRow({
      wsId: ids.wsId(),
      owned: data,
      workdir: data.workdir,
      workdirIno: data.workdirIno,
      loaded: 0,
      nowMs: clock.now(),
    });
    const range = { after: data.contextAfterSeq, upTo: data.messageCount };
    const parts = await this.#deps.messages.intactParts(data.wsId, range);
    const saved = { ...row, title: data.title, model_alias: data.modelAlias };
    const batches = copyInBatches({ wsId: data.wsId, parts, ...range }, row.ws_id);
    const told = { type: 'info', message: `The conversation was saved as ${row.generated_name}.` } as const;
    await this.#deps.hidden.make(saved, batches, (reveal) =>
      this.#clear(workstream, [reveal, ...copyTemplates(data, row.ws_id), ...also], [told]),
    );
  }

  async #refuse(workstream: Workstream, reason: string): Promise<string> {
    await this.#say(workstream, reason);
    return reason;
  }

  #say(workstream: Workstream, message: string): Promise<void> {
    this.#said.getStore()?.push(message);
    return this.#append(workstream, [{ type: 'info', message }]);
  }

  async #append({ data }: Workstream, events: StreamEvent[]): Promise<void> {
    await this.#deps.store.commit({ events: { wsId: data.wsId, events } });
  }
}
