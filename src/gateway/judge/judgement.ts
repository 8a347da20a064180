import { GatewayError } from '../../../protocol/errors.ts';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { Verdict } from '../../../protocol/events/verdict.ts';
import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import type { Advice, Assessment } from '../../agent/judge/assessment.ts';
import { askJudge } from '../../agent/judge/model/ask-judge.ts';
import { toJudgeMessage } from '../../agent/judge/model/judge-prompt.ts';
import { createJudgeTools } from '../../agent/judge/model/judge-tools.ts';
import { type Model, ProviderError } from '../../agent/providers/model.ts';
import { countedModel } from '../../agent/run/model/counted-model.ts';
import type { JudgedQuestion } from '../../agent/run/run-context.ts';
import type { Spending } from '../../agent/run/spending.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { WorkdirSource } from '../../agent/tools/workdir.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { isUnavailable } from '../../is-unavailable.ts';
import type { Log } from '../../log.ts';
import type { JudgeSettings } from '../live-settings.ts';
import { lastAuthorOf } from '../queue/authors.ts';
import type { LiveRun } from '../runs/live-run.ts';
import { insertJournal } from '../runs/run-rows.ts';
import { type Store, tookEffect } from '../store/store.ts';
import type { Budgets } from '../usage/budgets.ts';
import { openCallAccount } from '../usage/call-account.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { insertLateVerdict, modelVerdicts } from './verdict-rows.ts';

/** What every judgement works with. */
export interface JudgementDeps {
  store: Pick<Store, 'db' | 'commit'>;
  budgets: Pick<Budgets, 'forRun'>;
  onUsage(usage: Spending): void;
  onVerdict(verdict: Verdict): void;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

/** Gets the model that judges. */
export type OpenModel = () => Promise<Model>;

/** Where the judge may read. */
export interface Place {
  toolbox: Toolbox;
  workdir: WorkdirSource;
}

/** The run whose calls are judged. */
export type JudgedRun = Pick<LiveRun, 'run' | 'messages' | 'signal' | 'decide'>;

interface About extends Pick<JudgedQuestion, 'byJudge'> {
  run: JudgedRun;
  data: WorkstreamData;
  approvalId: string;
  settings: JudgeSettings;
  place: Place;
}

/** How many calls of a question are judged at the same time, and at most. */
const AT_ONCE = 4;
const MOST_CALLS = 32;
const RETRY_MS = 1_000;

/**
 * A model judges the calls of one question. Nothing waits for it: its verdicts are stored and told when they come, and so
 * is that none comes. They may answer the question (decision 85).
 */
export class Judgement {
  readonly #about: About;
  readonly #deps: JudgementDeps;
  readonly #decided = new AbortController();
  /** Those that are stored, by the ids of their calls. */
  readonly #verdicts = new Map<string, Advice>();
  /** The tokens of all requests about this question that have ended. */
  #usedTokens = 0;

  constructor(about: About, deps: JudgementDeps) {
    this.#about = about;
    this.#deps = deps;
  }

  decided(): void {
    if (this.#about.settings.cancelOnApproval) this.#decided.abort(new Error('the call was decided'));
  }

  /** Never rejects. */
  async judge(items: readonly ApprovalItem[], open: OpenModel): Promise<void> {
    const { run, data, approvalId, settings } = this.#about;
    const { stopping, clock, log, store } = this.#deps;
    const over = new AbortController();
    const stopped = AbortSignal.any([run.signal, stopping, this.#decided.signal]);
    const signal = AbortSignal.any([stopped, over.signal]);
    void clock.sleep(settings.timeoutMs, signal).then(
      () => over.abort(new NoVerdict(`The judge gave no verdict within ${settings.timeoutMs / 1000} s.`)),
      () => undefined, // it is over
    );
    try {
      for (const [callId, advice] of await modelVerdicts(store.db, approvalId)) this.#verdicts.set(callId, advice);
      if (this.#verdicts.size > 0) await this.#answer(stopped); // the daemon was stopped between verdict and decision
      const asked = items.filter(({ call_id, verdict }) => verdict !== undefined && !this.#verdicts.has(call_id));
      const left = [...asked.entries()];
      const work = async () => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const [index, item] = next;
          await this.#judgeOne(item, { open, signal, stopped, isTooMany: index >= MOST_CALLS });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } catch (err) {
      if (!stopped.aborted)
        log.warn({ err, wsId: data.wsId, approvalId }, 'a verdict of the judge could not be stored');
    } finally {
      over.abort();
    }
  }

  async #judgeOne(item: ApprovalItem, { open, signal, stopped, isTooMany }: Limits): Promise<void> {
    const { log } = this.#deps;
    const { wsId } = this.#about.data;
    try {
      if (isTooMany) throw new NoVerdict(`Only the first ${MOST_CALLS} calls of a question are judged.`);
      await this.#ask(item, { open, signal, stopped });
    } catch (err) {
      if (stopped.aborted) return;
      const state = signal.aborted ? 'timeout' : 'unavailable';
      log.info({ err, wsId, callId: item.call_id, state }, 'the judge gave no verdict');
      await this.#noVerdict(item, state, reasonOf(err, signal));
    }
  }

  async #noVerdict({ call_id }: ApprovalItem, state: 'timeout' | 'unavailable', reason: string): Promise<void> {
    const {
      data: { wsId },
      run: { run },
      approvalId,
    } = this.#about;
    const { store, clock } = this.#deps;
    await store.commit({
      events: { wsId, events: [{ type: 'judge_state', call_id, state, reason }] },
      statements: [insertJournal(run, { kind: 'not_judged', approvalId, callId: call_id }, clock.now())],
    });
  }

  async #ask(item: ApprovalItem, { open, signal, stopped }: Omit<Limits, 'isTooMany'>): Promise<void> {
    const { data, run } = this.#about;
    const { ids, clock, onUsage } = this.#deps;
    const startedMs = clock.monotonic();
    const model = await open();
    signal.throwIfAborted();
    const account = openCallAccount(
      { runId: ids.id('judge'), wsId: data.wsId, principal: lastAuthorOf(run.run) },
      signal,
      this.#deps,
    );
    const counted = countedModel(model, {
      begin: (asked, request) => {
        this.#checkTokens();
        return account.begin(asked, request);
      },
      end: async (spending) => {
        this.#usedTokens += spending.usage.promptTokens + spending.usage.completionTokens;
        onUsage(spending);
        await account.end(spending);
      },
    });
    try {
      const assessment = await askJudge(this.#question(item, { model, counted }), signal);
      if (assessment === undefined) throw new NoVerdict('The answer of the judge has no verdict.');
      await this.#store(item, assessment, { model, latencyMs: Math.round(clock.monotonic() - startedMs) });
    } finally {
      await account.close();
    }
    await this.#answer(stopped);
  }

  /** Calls that are judged at the same time may exceed the limit by one request each. */
  #checkTokens(): void {
    const { tokensPerQuestion: most } = this.#about.settings;
    if (most > 0 && this.#usedTokens >= most)
      throw new NoVerdict(`The judge has used up what it may use for one question (${most} tokens).`);
  }

  /** Answers the question if its verdicts are enough by now. Retries while the store refuses; people may decide meanwhile. */
  async #answer(stopped: AbortSignal): Promise<void> {
    const { run, approvalId, byJudge } = this.#about;
    const { clock, log } = this.#deps;
    if (byJudge === undefined) return;
    for (;;) {
      try {
        return await run.decide(approvalId, () => byJudge(this.#verdicts));
      } catch (err) {
        if (!isUnavailable(err) || stopped.aborted) return; // it was decided first, or its run is over
        log.warn({ err, approvalId }, 'the decision of the judge could not be stored; retrying');
      }
      await clock.sleep(RETRY_MS, stopped).catch(() => undefined); // aborted: it was over
    }
  }

  #question(item: ApprovalItem, { model, counted }: { model: Model; counted: Pick<Model, 'stream'> }) {
    const { data, run, settings, place } = this.#about;
    const { contextWindow } = model;
    const context = async () => {
      return { wsId: data.wsId, callId: item.call_id, workdir: await place.workdir.check(), history: [] };
    };
    return {
      model: counted,
      question: toJudgeMessage({
        messages: run.messages,
        item,
        contextWindow,
        maxContextRatio: settings.maxContextRatio,
      }),
      tools: settings.readOnlyTools ? createJudgeTools(place.toolbox, context) : undefined,
      conversation: `judge:${data.wsId}`,
    };
  }

  /** A verdict is stored and told once, even if the question was judged twice because of a restart. */
  async #store(item: ApprovalItem, found: Assessment, by: { model: Model; latencyMs: number }): Promise<void> {
    const { wsId } = this.#about.data;
    const { ids, store, clock, onVerdict } = this.#deps;
    const verdict = toVerdict(ids.id('vrd'), { item, found, ...by });
    const { func_args: _, ...shown } = verdict;
    const event: StreamEventOf<'intent_verdict'> = { type: 'intent_verdict', ...shown, tier: 'llm' };
    const statement = insertLateVerdict({ wsId, approvalId: this.#about.approvalId, verdict }, clock.now());
    if (!(await tookEffect(store.commit({ statements: [statement], events: { wsId, events: [event] } })))) return;
    this.#verdicts.set(item.call_id, found);
    onVerdict(verdict);
  }
}

/** There is no verdict; the message says why. */
class NoVerdict extends Error {
  override readonly name = 'NoVerdict';
}

interface Limits {
  open: OpenModel;
  /** Also aborts when the time is over. */
  signal: AbortSignal;
  /** Aborts when no verdict is wanted any more. */
  stopped: AbortSignal;
  isTooMany: boolean;
}

const toVerdict = (
  verdict_id: string,
  { item, found, model, latencyMs }: { item: ApprovalItem; found: Assessment; model: Model; latencyMs: number },
): Verdict => ({
  verdict_id,
  call_id: item.call_id,
  func_name: item.func_name,
  func_args: item.verdict?.func_args ?? '{}',
  intent_summary: found.summary,
  risk_level: found.level,
  confidence: found.confidence,
  recommendation: found.recommendation,
  reasoning: found.reasoning,
  evidence: found.evidence,
  tier: 'llm',
  judge_model: model.alias,
  latency_ms: latencyMs,
});

/** Errors of models and budgets are written for people; others may contain anything. */
function reasonOf(error: unknown, { aborted, reason }: AbortSignal): string {
  const cause: unknown = aborted ? reason : error;
  const isForPeople = [NoVerdict, ProviderError, GatewayError].some((kind) => cause instanceof kind);
  return isForPeople && cause instanceof Error ? cause.message : 'The judge failed.';
}
