import { wordsOf } from '../../../protocol/words-of.ts';
import type { Log } from '../../log.ts';
import { toAssessment } from '../guard/output-assessment.ts';
import type { OutputGuard } from '../guard/output-guard.ts';
import { toMatcher } from '../permissions/rules/glob.ts';
import { takeHead } from '../process/byte-ends.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { type HookCommand, type HookMoment, nameOf } from './hook-command.ts';
import { toCallFields, toEndFields, toInput, toQuestionFields, toResultFields } from './hook-input.ts';
import type { HookedCall, HookedRun, RunHooks } from './hooked-run.ts';
import { type HookEnd, type HookRunner, runHook } from './run-hook.ts';

/** The commands of the configuration that run at moments of runs. */
export interface Hooks {
  ofRun(run: HookedRun): RunHooks;
  /** Resolves when no hook runs that nothing waits for. */
  settled(): Promise<void>;
}

interface HooksDeps extends HookRunner {
  guard: OutputGuard;
  live: HookRunner['live'] & { readonly hooks: readonly HookCommand[] };
  log: Log;
}

/** Hooks of the same moment run one after another, in the order of the configuration. */
export function createHooks(deps: HooksDeps): Hooks {
  const underWay = new Set<Promise<void>>();
  return {
    ofRun(run) {
      const hooks = new OpenHooks(run, deps);
      const begin = (work: Promise<void>) => {
        underWay.add(work);
        void work.finally(() => underWay.delete(work));
      };
      return {
        beforeTool: (call) => hooks.beforeTool(call),
        hasAfterTool: (names) => hooks.hasAfterTool(names),
        afterTool: (call, result) => hooks.afterTool(call, result),
        onAttention: (question) => begin(hooks.inform('attention', toQuestionFields(question))),
        onEnd: (end) => begin(hooks.inform('run_end', toEndFields(end))),
      };
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

interface Asked {
  fields(): Readonly<Record<string, unknown>>;
  callId: string;
  signal: AbortSignal;
}

const MAX_REASON = 2_000;

class OpenHooks {
  readonly #run: HookedRun;
  readonly #deps: HooksDeps;
  /** A hook that fails at each call is reported once. */
  readonly #told = new Set<string>();

  constructor(run: HookedRun, deps: HooksDeps) {
    this.#run = run;
    this.#deps = deps;
  }

  async beforeTool(call: HookedCall): Promise<string | undefined> {
    const { signal } = this.#run;
    for (const hook of this.#hooksAt('before_tool', call.names)) {
      const end = await this.#ask(hook, { fields: () => toCallFields(call), callId: call.callId, signal });
      signal.throwIfAborted();
      if (end.kind === 'failed') {
        if (hook.required) return `The hook “${nameOf(hook)}” is required, and ${end.why}.`;
      } else if (end.answer.decision === 'block') {
        return this.#deps.guard
          .clean(end.answer.reason ?? '')
          .slice(0, MAX_REASON)
          .toWellFormed();
      }
    }
    return undefined;
  }

  hasAfterTool(names: readonly string[]): boolean {
    return this.#hooksAt('after_tool', names).length > 0;
  }

  async afterTool(call: HookedCall, before: ToolOutcome): Promise<ToolOutcome> {
    let result = before;
    const { signal } = this.#run;
    const fields = () => ({ ...toCallFields(call), ...toResultFields(result) });
    for (const hook of this.#hooksAt('after_tool', call.names)) {
      if (signal.aborted) return result;
      const end = await this.#ask(hook, { fields, callId: call.callId, signal });
      if (end.kind === 'failed' || (end.answer.context ?? '') === '') continue;
      const added = `[hook: ${nameOf(hook)}]\n${toBounded(end.answer.context ?? '')}`;
      result = await withText(result, added, this.#deps.guard);
      // It may have fetched what it says.
      if (end.hasNetwork) result = { ...result, taint: result.taint ?? { kind: 'network', target: 'hook' } };
    }
    return result;
  }

  /** Never rejects. */
  async inform(at: HookMoment, fields: Readonly<Record<string, unknown>>): Promise<void> {
    const signal = at === 'run_end' ? this.#run.stopping : AbortSignal.any([this.#run.signal, this.#run.stopping]);
    for (const hook of this.#hooksAt(at)) {
      if (signal.aborted) return;
      await this.#ask(hook, { fields: () => fields, callId: '', signal });
    }
  }

  #hooksAt(at: HookMoment, names?: readonly string[]): HookCommand[] {
    return this.#deps.live.hooks.filter(
      (hook) =>
        hook.at === at &&
        (names === undefined ||
          hook.tools === undefined ||
          hook.tools.some((pattern) => names.some(toMatcher(pattern)))),
    );
  }

  /** Never rejects. */
  async #ask(hook: HookCommand, { fields, callId, signal }: Asked): Promise<HookEnd> {
    const { guard } = this.#deps;
    let end: HookEnd;
    try {
      const text = await toInput(hook.at, this.#run, { fields: fields(), guard });
      end = await runHook({ hook, text, callId, signal }, this.#run, this.#deps);
    } catch (error) {
      end = { kind: 'failed', why: `could not be run: ${guard.clean(wordsOf(error))}`, said: '' };
    }
    if (end.kind === 'failed' && !signal.aborted) this.#report(hook, end);
    return end;
  }

  #report(hook: HookCommand, { why, said }: Extract<HookEnd, { kind: 'failed' }>): void {
    const { wsId, runId } = this.#run;
    this.#deps.log.warn({ wsId, runId, moment: hook.at, hook: nameOf(hook), why, said }, 'a hook failed');
    const notice = `The hook “${nameOf(hook)}” (${hook.at}) ${why}.${said === '' ? '' : ` It printed: ${said}`}`;
    if (this.#told.has(notice)) return;
    this.#told.add(notice);
    this.#run.tell(notice);
  }
}

const MAX_CONTEXT = { maxBytes: 8 * 1024, maxLines: 100 };

function toBounded(text: string): string {
  const bytes = Buffer.from(text);
  const head = takeHead(bytes, MAX_CONTEXT);
  return head.length === bytes.length ? text : `${head.toString('utf8').trimEnd()}\n[cut, ${bytes.length} bytes]`;
}

/** The guard reports on the whole output. */
async function withText(result: ToolOutcome, added: string, guard: OutputGuard): Promise<ToolOutcome> {
  const { text, assessment: found } = await guard.check(added);
  const output = `${result.output}\n\n${text}`;
  const flags = new Set([...(result.assessment?.flags ?? []), ...(found?.flags ?? [])]);
  const isRedacted = result.assessment?.isRedacted === true || found?.isRedacted === true;
  const assessment = toAssessment(flags, { length: output.length, isRedacted });
  return { ...result, output, ...(assessment && { assessment }) };
}
