import { GatewayError } from '../../../protocol/errors.ts';
import type { WsTemplate } from '../../../protocol/methods/templates/wstemplate.ts';
import type { Effort } from '../../../protocol/stream-events.ts';
import { namesIn } from '../../../protocol/text/name-list.ts';
import { COORDINATOR_PROMPT } from '../../agent/coordinator/coordinator-prompt.ts';
import type { AppliedTemplateTable } from '../store/schema/template-schema.ts';
import type { Statement } from '../store/store.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { NOTHING, readApplied, storeApplied, storePrompt } from './applied-templates.ts';
import { readOpening } from './opening-prompts.ts';
import { PromptTemplates, type TemplatesDeps } from './prompt-templates.ts';
import { WsTemplates } from './ws-templates.ts';

/** What a new workstream is asked to begin with, by name. */
export interface AskedTemplates {
  template: string | undefined;
  wsTemplate: string | undefined;
  skill: string | undefined;
}

/** The settings of a new workstream that come from its templates. */
export interface Beginning {
  model: string | undefined;
  autoApprove: boolean;
  /** Tools whose calls run without asking. */
  autoApproveTools: readonly string[];
  effort: Effort | undefined;
  budget: { tokens: number } | undefined;
  /** Store what is needed later; committed with the workstream. */
  statementsFor(wsId: string): Statement[];
}

/** The data of a workstream that templates fill in. */
export type Templated = Pick<WorkstreamData, 'wsId' | 'contextAfterSeq' | 'templates' | 'opening' | 'kind'>;

/** The templates, and what workstreams and their conversations took from them. */
export class Templates {
  readonly prompts: PromptTemplates;
  readonly ofWorkstreams: WsTemplates;
  readonly #store: TemplatesDeps['store'];

  constructor(deps: TemplatesDeps) {
    this.prompts = new PromptTemplates(deps);
    this.ofWorkstreams = new WsTemplates(deps);
    this.#store = deps.store;
  }

  /** Throws INVALID_REQUEST for a name that does not exist, or is disabled. */
  async begin(asked: AskedTemplates): Promise<Beginning> {
    const skill = asked.skill === undefined ? {} : await this.#skillOf(asked.skill);
    const settings = asked.wsTemplate === undefined ? skill.settings : await this.#settingsOf(asked.wsTemplate);
    const named = asked.template === undefined ? skill.prompt : await this.#promptOf(asked.template);
    const own = settings && (await this.#ownPromptOf(settings));
    const columns = { ...(settings ? toColumns(settings) : NOTHING), ...(own ?? named) };
    const isAny = settings !== undefined || named !== undefined;
    return {
      model: settings?.model || undefined,
      autoApprove: settings?.autoApprove ?? false,
      autoApproveTools: namesIn(settings?.autoApproveTools ?? ''),
      effort: settings?.reasoningEffort || undefined,
      budget: settings?.tokenBudget ? { tokens: settings.tokenBudget } : undefined,
      statementsFor: (wsId) => (isAny ? [storeApplied({ ...columns, ws_id: wsId })] : []),
    };
  }

  /** Reads what a workstream has from templates into its data. */
  async load(data: Templated): Promise<void> {
    [data.templates, data.opening] = await Promise.all([
      readApplied(this.#store, data.wsId),
      readOpening(this.#store, data.wsId),
    ]);
  }

  /**
   * The text that the conversation begins with: the one it began with, if it has begun; otherwise that of the chosen template,
   * or those of the default templates.
   */
  async textFor(data: Templated): Promise<string> {
    const { contextAfterSeq, templates, opening, kind } = data;
    if (opening?.afterSeq === contextAfterSeq) return opening.content;
    const texts = templates?.prompt ? [templates.prompt] : await this.prompts.defaults();
    const contents = texts.map(({ content }) => content);
    return [...contents, ...(kind === 'coordinator' ? [COORDINATOR_PROMPT] : [])].join('\n\n');
  }

  /** From the next conversation on, a workstream begins with this template; null: with the default ones. */
  async choose(data: Templated, name: string | null): Promise<void> {
    const found = name === null ? null : await this.prompts.findByName(name);
    if (found === undefined) throw missing('Template not found', name ?? '');
    await this.#store.commit({ statements: [storePrompt(data.wsId, found)] });
    await this.load(data);
  }

  async #settingsOf(name: string): Promise<WsTemplate> {
    const found = await this.ofWorkstreams.findEnabled(name);
    if (!found) throw missing('Workstream template not found or disabled', name);
    return found;
  }

  async #promptOf(name: string): Promise<Prompt> {
    const found = await this.prompts.findByName(name);
    if (!found) throw missing('Template not found', name);
    return { prompt_name: name, prompt_content: found.content };
  }

  /** `skill.list` lists both kinds. */
  async #skillOf(name: string): Promise<{ settings?: WsTemplate; prompt?: Prompt }> {
    const settings = await this.ofWorkstreams.findEnabled(name);
    if (settings) return { settings };
    const found = await this.prompts.findByName(name);
    if (!found) throw missing('Skill not found or disabled', name);
    return { prompt: { prompt_name: name, prompt_content: found.content } };
  }

  async #ownPromptOf({ systemPrompt, promptTemplate }: WsTemplate): Promise<Prompt | undefined> {
    if (systemPrompt !== '') return { prompt_name: null, prompt_content: systemPrompt };
    return promptTemplate === '' ? undefined : this.#promptOf(promptTemplate);
  }
}

type Prompt = Pick<AppliedTemplateTable, 'prompt_name' | 'prompt_content'>;

const toColumns = (template: WsTemplate): Omit<AppliedTemplateTable, 'ws_id'> => {
  const { agentMaxTurns, notifyOnComplete } = template;
  return {
    ws_template_id: template.wsTemplateId,
    ws_template_name: template.name,
    ws_template_version: template.version,
    prompt_name: null,
    prompt_content: null,
    temperature: template.temperature,
    max_tokens: template.maxTokens,
    stored_only_json: JSON.stringify({ agentMaxTurns, notifyOnComplete }),
  };
};

const missing = (what: string, name: string) => new GatewayError('INVALID_REQUEST', `${what}: ${name.slice(0, 128)}`);
