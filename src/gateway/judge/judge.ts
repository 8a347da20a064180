import type { RunJudge } from '../../agent/run/run-context.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { type JudgedRun, Judgement, type JudgementDeps, type Place } from './judgement.ts';

interface JudgeDeps extends JudgementDeps {
  live: Pick<LiveSettings, 'judge'>;
  /** The home of the user that commands run as; undefined if it is unknown. */
  userHome: string | undefined;
}

/** Rates the calls of runs that need approval. */
export class Judge {
  readonly #deps: JudgeDeps;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  /** Undefined while the judge is off. */
  forRun(run: JudgedRun, data: WorkstreamData, place: Place): RunJudge | undefined {
    const { live, userHome } = this.#deps;
    const settings = live.judge;
    if (!settings.enabled) return undefined;
    const alias = settings.usesModel ? this.#modelFor(data) : undefined;
    return {
      home: userHome,
      usesModel: alias !== undefined,
      threshold: settings.confidenceThreshold,
      begin: ({ approvalId, items, byJudge }) => {
        const about = { run, data, approvalId, alias: alias?.name, settings, place, byJudge };
        const judgement = new Judgement(about, this.#deps);
        if (alias !== undefined) void judgement.judge(items);
        return judgement;
      },
    };
  }

  /**
   * The model of the workstream's judge, of the settings, or of the workstream, by its alias; without a name the default
   * one. Undefined for the demo model, which cannot judge.
   */
  #modelFor({ judgeModel, modelAlias }: WorkstreamData): { name: string | undefined } | undefined {
    const { live, models } = this.#deps;
    const name = (judgeModel ?? live.judge.model) || (modelAlias ?? undefined);
    const known = models.list().find(({ alias, isDefault }) => (name === undefined ? isDefault : alias === name));
    return known?.provider === 'demo' ? undefined : { name };
  }
}
