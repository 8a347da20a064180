import { GatewayError } from '../../../protocol/errors.ts';
import type { WorkstreamKind } from '../../../protocol/methods/conversation/kinds.ts';
import type { Skill } from '../../../protocol/methods/skills/skill.ts';
import type { WsTemplate } from '../../../protocol/methods/templates/wstemplate.ts';
import type { Effort } from '../../../protocol/stream-events.ts';
import { namesIn } from '../../../protocol/text/trimmed-text.ts';
import { COORDINATOR_PROMPT } from '../../agent/coordinator/coordinator-prompt.ts';
import type { UsableSkills } from '../skills/agent-skills.ts';
import { type ChosenSkill, storeChosen } from '../skills/chosen-skill.ts';
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
  /** Of the workstream. */
  kind: WorkstreamKind;
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

interface TemplatesAndSkills extends TemplatesDeps {
  skills: Pick<UsableSkills, 'findAnywhere' | 'choose'>;
}

/** The templates, and what workstreams and their conversations took from them. */
export class Templates {
  readonly prompts: PromptTemplates;
  readonly ofWorkstreams: WsTemplates;
  readonly #store: TemplatesDeps['store'];
  readonly #skills: TemplatesAndSkills['skills'];

  constructor(deps: TemplatesAndSkills) {
    this.prompts = new PromptTemplates(deps);
    this.ofWorkstreams = new WsTemplates(deps);
    this.#store = deps.store;
    this.#skills = deps.skills;
  }

  /** Throws INVALID_REQUEST for a name that does not exist, or is disabled. */
  async begin(asked: AskedTemplates): Promise<Beginning> {
    const skill = asked.skill === undefined ? {} : await this.#skillOf(asked.skill, asked.kind);
    const settings = asked.wsTemplate === undefined ? skill.settings : await this.#settingsOf(asked.wsTemplate);
    const named = asked.template === undefined ? skill.prompt : await this.#promptOf(asked.template);
    const own = settings && (await this.#ownPromptOf(settings));
    const columns = { ...(settings ? toColumns(settings) : columnsOf(skill.stored)), ...(own ?? named) };
    const isAny = (settings ?? skill.stored ?? named) !== undefined;
    return {
      ...(settings
        ? usedOf(settings, namesIn(settings.autoApproveTools))
        : usedOf(skill.stored, skill.stored?.allowedTools)),
      statementsFor: (wsId) => [
        ...(isAny ? [storeApplied({ ...columns, ws_id: wsId })] : []),
        ...(skill.chosen ? storeChosen(wsId, skill.chosen) : []),
      ],
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

  /** A skill, or a template of either kind. A stored skill wins; one in a folder of the home comes last. */
  async #skillOf(name: string, kind: WorkstreamKind): Promise<NamedBySkill> {
    const found = await this.#skills.findAnywhere(name, kind);
    if (found.stored) return { stored: found.stored, chosen: await this.#skills.choose(found) };
    const settings = await this.ofWorkstreams.findEnabled(name);
    if (settings) return { settings };
    const prompt = await this.prompts.findByName(name);
    if (prompt) return { prompt: { prompt_name: name, prompt_content: prompt.content } };
    if (!found.folder) throw missing('Skill not found or disabled', name);
    return { chosen: await this.#skills.choose(found) };
  }

  async #ownPromptOf({ systemPrompt, promptTemplate }: WsTemplate): Promise<Prompt | undefined> {
    if (systemPrompt !== '') return { prompt_name: null, prompt_content: systemPrompt };
    return promptTemplate === '' ? undefined : this.#promptOf(promptTemplate);
  }
}

type Prompt = Pick<AppliedTemplateTable, 'prompt_name' | 'prompt_content'>;

/** What `skill` of a new workstream can lead to. */
interface NamedBySkill {
  settings?: WsTemplate;
  prompt?: Prompt;
  chosen?: ChosenSkill | undefined;
  stored?: Skill;
}

/** The settings that take effect at once. */
const usedOf = (
  used: Pick<Skill, 'model' | 'autoApprove' | 'reasoningEffort' | 'tokenBudget'> | undefined,
  tools: readonly string[] = [],
): Omit<Beginning, 'statementsFor'> => ({
  model: used?.model || undefined,
  autoApprove: used?.autoApprove ?? false,
  autoApproveTools: tools,
  effort: used?.reasoningEffort || undefined,
  budget: used?.tokenBudget ? { tokens: used.tokenBudget } : undefined,
});

/** The settings of a skill; its text enters conversations as a message. */
const columnsOf = (skill: Skill | undefined): Omit<AppliedTemplateTable, 'ws_id'> => {
  if (!skill) return NOTHING;
  const { temperature, maxTokens, agentMaxTurns, notifyOnComplete } = skill;
  const storedOnly = JSON.stringify({ agentMaxTurns, notifyOnComplete });
  return { ...NOTHING, temperature, max_tokens: maxTokens, stored_only_json: storedOnly };
};

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
