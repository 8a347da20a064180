import type { Models } from '../../agent/providers/model.ts';
import type { RunJudge } from '../../agent/run/run-context.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { type JudgedRun, Judgement, type JudgementDeps, type OpenModel, type Place } from './judgement.ts';

interface JudgeDeps extends JudgementDeps {
  models: Pick<Models, 'resolve' | 'open' | 'list'>;
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
    const model = settings.usesModel ? this.#modelFor(data) : undefined;
    return {
      home: userHome,
      usesModel: model !== undefined,
      threshold: settings.confidenceThreshold,
      begin: ({ approvalId, items, byJudge }) => {
        const about = { run, data, approvalId, settings, place, byJudge };
        const judgement = new Judgement(about, this.#deps);
        if (model) void judgement.judge(items, model);
        return judgement;
      },
    };
  }

  /**
   * The model of the workstream's judge, of the settings, or of the workstream; without a name the default one. Undefined for
   * the demo model, which cannot judge.
   */
  #modelFor({ judgeModel, modelAlias }: WorkstreamData): OpenModel | undefined {
    const { live, models } = this.#deps;
    const { own, model } = live.judge;
    if (own && judgeModel === null) return () => models.open(own);
    const name = (judgeModel ?? model) || (modelAlias ?? undefined);
    const known = models.list().find(({ alias, isDefault }) => (name === undefined ? isDefault : alias === name));
    return known?.provider === 'demo' ? undefined : () => models.resolve(name);
  }
}
