import { COMMANDS, type CommandName, findNearestCommand, isCommandName, usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message } from '../../agent/message.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { type Messages, newestWithin, type StoredMessage, toHistory } from '../history/history.ts';
import { readContext } from '../history/read-context.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { hasForeignText, toAlwaysColumns } from './always.ts';
import { alwaysEnded } from './always-ends.ts';
import type { Settings } from './settings.ts';
import type { Workstream } from './workstream.ts';
import type { WorkstreamData } from './workstream-data.ts';
import { copyMessages, insertWorkstream, readByName, toWorkstreamRow } from './workstream-rows.ts';

export interface CommandDeps {
  store: Store;
  messages: Messages;
  settings: Settings;
  models: Models;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Of a resumed conversation, in the event that shows it; older messages come by page. */
const SHOWN = { messages: 200, chars: 512 * 1024 };

interface Command {
  /** It changes what the next turn reads, so nothing may be running. */
  whenIdle: boolean;
  run(argument: string, workstream: Workstream): Promise<void>;
}

/** The slash commands of a conversation. What they say arrives as `info` events. */
export class Commands {
  readonly #deps: CommandDeps;
  readonly #commands: Record<CommandName, Command>;

  constructor(deps: CommandDeps) {
    this.#deps = deps;
    this.#commands = {
      help: { whenIdle: false, run: (_argument, workstream) => this.#say(workstream, help()) },
      clear: { whenIdle: true, run: (_argument, workstream) => this.#clear(workstream, []) },
      new: { whenIdle: true, run: (_argument, workstream) => this.#saveAndBeginAfresh(workstream) },
      model: { whenIdle: false, run: (alias, workstream) => this.#model(alias, workstream) },
      resume: { whenIdle: true, run: (name, workstream) => this.#resume(name, workstream) },
      name: { whenIdle: false, run: (name, workstream) => this.#name(name, workstream) },
    };
  }

  /** What goes wrong is an `error` event, not a refusal: the command was understood as far as the wire is concerned. */
  async run(workstream: Workstream, line: string): Promise<void> {
    const [, word = '', argument = ''] = /^\/?(\S+)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
    if (!isCommandName(word)) return this.#say(workstream, unknown(word));
    const command = this.#commands[word];
    const work = () => this.#attempt(workstream, () => command.run(argument.trim(), workstream));
    if (!command.whenIdle) return work();
    if (await workstream.whileIdle(work)) return;
    return this.#say(workstream, `/${word} has to wait until the answer is finished; cancel it first.`);
  }

  /** As `/new`: saves the conversation so far and begins afresh under the same ws_id. False while something runs. */
  startAfresh(workstream: Workstream): Promise<boolean> {
    return workstream.whileIdle(() => this.#saveAndBeginAfresh(workstream));
  }

  /** As `/clear`: the model begins afresh, and nothing is saved apart. False while something runs. */
  clear(workstream: Workstream): Promise<boolean> {
    return workstream.whileIdle(() => this.#clear(workstream, []));
  }

  /**
   * As `/clear`, where a caller who may not approve wrote part of what the model reads. False while something runs.
   */
  clearForeignText(workstream: Workstream): Promise<boolean> {
    return workstream.whileIdle(async () => {
      if (!hasForeignText(await this.#contextOf(workstream))) return;
      await this.#clear(workstream, []);
      await this.#say(workstream, FOREIGN_TEXT_CLEARED);
    });
  }

  /**
   * Lets the model begin after all but about the last `keep` messages, at a question, so that no answer loses its question.
   * Answers how many are left, undefined when nothing was dropped; false while something runs.
   */
  async compact(workstream: Workstream, keep: number): Promise<{ kept: number | undefined } | false> {
    const { data } = workstream;
    let kept: number | undefined;
    const isDone = await workstream.whileIdle(async () => {
      const range = { after: data.contextAfterSeq, upTo: data.messageCount, limit: keep };
      const newest = await this.#deps.messages.page(data.wsId, range);
      const first = newest.find(({ message }) => message.role === 'user')?.seq;
      if (first === undefined || first === data.contextAfterSeq + 1) return;
      const shown = newestWithin(toHistory(newest.filter(({ seq }) => seq >= first)), SHOWN.chars);
      await this.#beginAfter(workstream, first - 1, { events: [{ type: 'history', messages: shown }] });
      kept = data.messageCount - data.contextAfterSeq;
    });
    return isDone && { kept };
  }

  /** Nothing where it is damaged: its runs end with that error. */
  async #contextOf({ data }: Workstream): Promise<readonly Message[]> {
    return (
      (await readContext(data, { loadContext: () => this.#deps.messages.context(data), log: this.#deps.log })) ?? []
    );
  }

  async #attempt(workstream: Workstream, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code === 'UNAVAILABLE') throw error;
      await this.#append(workstream, [{ type: 'error', message: `Command error: ${error.message}` }]);
    }
  }

  async #clear(workstream: Workstream, before: Statement[]): Promise<void> {
    const { data } = workstream;
    const unnamed = setWorkstream(data.wsId, { title: null }); // the next first message names it
    const over = endAlways(data);
    const statements = [...before, unnamed, ...over.statements];
    await this.#beginAfter(workstream, data.messageCount, { statements, events: over.events });
    data.title = null;
    data.always = undefined;
  }

  /** The model reads, and clients show, what comes after this message; `also` is committed with it. */
  async #beginAfter(workstream: Workstream, after: number, also: { statements?: Statement[]; events: StreamEvent[] }) {
    const { data } = workstream;
    await this.#deps.store.commit({
      statements: [...(also.statements ?? []), ...beginContext(data.wsId, after)],
      events: { wsId: data.wsId, events: [{ type: 'clear_ui', after_seq: after }, ...also.events] },
    });
    data.contextAfterSeq = after;
    data.usage = undefined;
    workstream.forgetContext();
  }

  async #saveAndBeginAfresh(workstream: Workstream): Promise<void> {
    const { ids, clock } = this.#deps;
    const { data } = workstream;
    const count = data.messageCount - data.contextAfterSeq;
    if (count === 0) return this.#clear(workstream, []);
    const row = toWorkstreamRow({
      ...{ wsId: ids.wsId(), workdir: data.workdir, workdirIno: data.workdirIno, loaded: 0, nowMs: clock.now() },
    });
    await this.#deps.messages.requireIntact(data.wsId, { after: data.contextAfterSeq, upTo: data.messageCount });
    const saved = insertWorkstream({ ...row, title: data.title, model_alias: data.modelAlias });
    const range = { wsId: data.wsId, after: data.contextAfterSeq, upTo: data.messageCount };
    await this.#clear(workstream, [saved, ...copyMessages(range, row.ws_id)]);
    await this.#say(workstream, `The conversation so far is saved as ${row.generated_name}.`);
  }

  async #model(alias: string, workstream: Workstream): Promise<void> {
    if (alias !== '') {
      await this.#deps.settings.change(workstream, { model: alias });
      return this.#say(workstream, `Model: ${workstream.data.toRow().modelAlias}`);
    }
    const current = workstream.data.toRow().modelAlias;
    const lines = this.#deps.models
      .list()
      .map((model) => `${model.alias === current ? '*' : ' '} ${model.alias}  (${model.provider}/${model.modelId})`);
    return this.#say(workstream, lines.join('\n'));
  }

  async #name(name: string, workstream: Workstream): Promise<void> {
    if (name === '') throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('name')}`);
    await this.#deps.settings.change(workstream, { name });
    await this.#say(workstream, `This workstream is now called ${name}.`);
  }

  async #resume(name: string, workstream: Workstream): Promise<void> {
    if (name === '') throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('resume')}`);
    const { store, messages } = this.#deps;
    const row = await readByName(store, name);
    if (!row) throw new GatewayError('NOT_FOUND', `No saved conversation is called ${name}`);
    const { data } = workstream;
    const boundary = data.messageCount;
    const after = row.context_after_seq;
    const page = await messages.page(row.ws_id, { after, upTo: row.message_count, limit: SHOWN.messages });
    const upTo = lastComplete(page) ?? after;
    await messages.requireIntact(row.ws_id, { after, upTo });
    const shown = newestWithin(toHistory(page.filter(({ seq }) => seq <= upTo)), SHOWN.chars);
    const over = endAlways(data);
    await store.commit({
      statements: [
        ...over.statements,
        ...beginContext(data.wsId, boundary),
        ...copyMessages({ wsId: row.ws_id, after, upTo }, data.wsId),
        setWorkstream(data.wsId, { title: row.title }), // lists show what is being talked of now
      ],
      events: {
        wsId: data.wsId,
        events: [
          { type: 'clear_ui', after_seq: boundary },
          { type: 'history', messages: shown.map((message) => ({ ...message, seq: message.seq - after + boundary })) },
          ...over.events,
        ],
      },
    });
    data.contextAfterSeq = boundary;
    data.always = undefined;
    data.messageCount += upTo - after;
    data.title = row.title;
    data.usage = undefined;
    workstream.forgetContext();
  }

  #say(workstream: Workstream, message: string): Promise<void> {
    return this.#append(workstream, [{ type: 'info', message }]);
  }

  async #append({ data }: Workstream, events: StreamEvent[]): Promise<void> {
    await this.#deps.store.commit({ events: { wsId: data.wsId, events } });
  }
}

/**
 * Notes that were told just before the beginning are not of what begins, and nobody can see them any more. The tokens of
 * the last turn filled a context that is no longer read.
 */
const beginContext = (wsId: string, after: number): Statement[] => [
  setWorkstream(wsId, { context_after_seq: after, usage_json: null }),
  statementOf(build.deleteFrom('notes').where('ws_id', '=', wsId).where('after_seq', '=', after)),
];

/** Auto-approve belongs to the conversation that it was given in. */
function endAlways(data: WorkstreamData): { statements: Statement[]; events: StreamEvent[] } {
  if (!data.always) return { statements: [], events: [] };
  const off = toAlwaysColumns(undefined);
  return {
    statements: [setWorkstream(data.wsId, off)],
    events: [data.settingsEvent(off), alwaysEnded('conversation')],
  };
}

const FOREIGN_TEXT_CLEARED =
  'The conversation began afresh: a caller who may not approve had written in it, and this job runs tools without asking.';

function help(): string {
  const names = Object.keys(COMMANDS).filter(isCommandName);
  const width = Math.max(...names.map((name) => usageOf(name).length));
  return names.map((name) => `${usageOf(name).padEnd(width)}  ${COMMANDS[name].summary}`).join('\n');
}

function unknown(word: string): string {
  const meant = findNearestCommand(word);
  const guess = meant === undefined ? '' : ` Did you mean /${meant}?`;
  return `Unknown command: /${word.slice(0, 64)}.${guess} Type /help for a list.`;
}

/** The last message that can be copied: the calls of a turn that is still in progress have no results yet. */
function lastComplete(stored: readonly StoredMessage[]): number | undefined {
  const index = stored.findLastIndex(({ message }) => message.role === 'assistant');
  const answer = stored[index];
  if (answer?.message.role !== 'assistant') return stored.at(-1)?.seq;
  const results = stored.slice(index).filter(({ message }) => message.role === 'tool');
  return results.length < answer.message.toolCalls.length ? answer.seq - 1 : stored.at(-1)?.seq;
}
