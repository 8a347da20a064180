import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty } from '../../frames.ts';
import { Effort } from '../../stream-events.ts';
import { MAX_TEMPLATE_CHARS } from './template.ts';

const AtMs = z.int().min(0);
const WsTemplateId = NonEmpty.max(64);

/** The settings of a workstream template that are numbers, and their ranges. */
export const TEMPLATE_NUMBERS = {
  temperature: z.number().min(0).max(2),
  maxTokens: z.int().min(1).max(10_000_000),
  /** 0: none. */
  tokenBudget: z.int().min(0).max(1_000_000_000_000),
  agentMaxTurns: z.int().min(1).max(10_000),
} as const;

/** A workstream template as it is offered to people who create a workstream. */
const WsTemplateSummary = z
  .strictObject({ name: NonEmpty, description: z.string(), model: z.string() })
  .meta({ id: 'WsTemplateSummary' });

/** Settings that a new workstream begins with. Empty texts and null: as usual. */
export const WsTemplate = z
  .strictObject({
    wsTemplateId: z.string(),
    name: NonEmpty,
    description: z.string(),
    /** Takes precedence over `promptTemplate`. */
    systemPrompt: z.string(),
    /** The name of a prompt template. */
    promptTemplate: z.string(),
    /** SHA-256 in hex of that template’s text when this one was saved; empty without one. */
    promptTemplateHash: z.string(),
    /** An alias. */
    model: z.string(),
    autoApprove: z.boolean(),
    /** Comma-separated names of tools. */
    autoApproveTools: z.string(),
    temperature: z.number().nullable(),
    reasoningEffort: z.union([Effort, z.literal('')]),
    maxTokens: z.int().nullable(),
    /** 0: none. */
    tokenBudget: z.int().min(0),
    agentMaxTurns: z.int().nullable(),
    /** JSON text. */
    notifyOnComplete: z.string(),
    createdBy: z.string(),
    enabled: z.boolean(),
    /** 1 at first; each edit adds one. */
    version: z.int().min(1),
    createdAtMs: AtMs,
    updatedAtMs: AtMs,
  })
  .meta({ id: 'WsTemplate' });
export type WsTemplate = z.infer<typeof WsTemplate>;

/** The state of a workstream template before an edit. */
const WsTemplateVersion = z
  .strictObject({
    version: z.int().min(1),
    snapshot: WsTemplate,
    /** The user or principal that made the edit. */
    changedBy: z.string(),
    createdAtMs: AtMs,
  })
  .meta({ id: 'WsTemplateVersion' });

const fields = {
  name: z.string().max(256).optional(),
  description: z.string().max(1_024).optional(),
  systemPrompt: z.string().max(MAX_TEMPLATE_CHARS).optional(),
  promptTemplate: z.string().max(256).optional(),
  model: z.string().max(256).optional(),
  autoApprove: z.boolean().optional(),
  autoApproveTools: z.string().max(2_048).optional(),
  temperature: TEMPLATE_NUMBERS.temperature.nullish(),
  reasoningEffort: z.union([Effort, z.literal('')]).optional(),
  maxTokens: TEMPLATE_NUMBERS.maxTokens.nullish(),
  tokenBudget: TEMPLATE_NUMBERS.tokenBudget.nullish(),
  agentMaxTurns: TEMPLATE_NUMBERS.agentMaxTurns.nullish(),
  notifyOnComplete: z.string().max(8_192).optional(),
  enabled: z.boolean().optional(),
};

/** Whether a workstream of such a template runs calls without asking. */
export const allowsCalls = ({
  autoApprove,
  autoApproveTools = '',
}: {
  autoApprove?: boolean | undefined;
  autoApproveTools?: string | undefined;
}) => autoApprove === true || autoApproveTools.trim() !== '';

/** Settings for new workstreams. */
export const wstemplateContracts = {
  'wstemplate.list': contract({
    summary: 'The enabled workstream templates in the order of their names, in short.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'WsTemplateListParams' }),
    result: () => z.strictObject({ templates: z.array(WsTemplateSummary) }).meta({ id: 'WsTemplateListResult' }),
  }),
  'wstemplate.details': contract({
    summary: 'All workstream templates in the order of their names.',
    scope: 'approve',
    permission: 'admin.ws_templates',
    params: () => z.strictObject({}).meta({ id: 'WsTemplateDetailsParams' }),
    result: () => z.strictObject({ templates: z.array(WsTemplate) }).meta({ id: 'WsTemplateDetailsResult' }),
  }),
  'wstemplate.get': contract({
    summary: 'One workstream template.',
    scope: 'approve',
    permission: 'admin.ws_templates',
    params: () => z.strictObject({ wsTemplateId: WsTemplateId }).meta({ id: 'WsTemplateGetParams' }),
    result: () => WsTemplate,
  }),
  'wstemplate.create': contract({
    summary: 'Add a workstream template.',
    scope: 'approve',
    permission: 'admin.ws_templates',
    audit: { action: 'ws_template.create', id: 'wsTemplateId' },
    stepUp: allowsCalls,
    params: () => z.strictObject(fields).meta({ id: 'WsTemplateCreateParams' }),
    result: () => WsTemplate,
  }),
  'wstemplate.update': contract({
    summary:
      'Change a workstream template; the state before is kept as a version. Workstreams that exist stay as they are.',
    scope: 'approve',
    permission: 'admin.ws_templates',
    audit: { action: 'ws_template.update', id: 'wsTemplateId' },
    stepUp: allowsCalls,
    params: () => z.strictObject({ wsTemplateId: WsTemplateId, ...fields }).meta({ id: 'WsTemplateUpdateParams' }),
    result: () => WsTemplate,
  }),
  'wstemplate.delete': contract({
    summary: 'Delete a workstream template with its versions.',
    scope: 'approve',
    permission: 'admin.ws_templates',
    audit: { action: 'ws_template.delete', id: 'wsTemplateId' },
    params: () => z.strictObject({ wsTemplateId: WsTemplateId }).meta({ id: 'WsTemplateDeleteParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'WsTemplateDeleteResult' }),
  }),
  'wstemplate.versions': contract({
    summary: 'The states of a workstream template before its edits, newest first.',
    scope: 'approve',
    permission: 'admin.ws_templates',
    params: () => z.strictObject({ wsTemplateId: WsTemplateId }).meta({ id: 'WsTemplateVersionsParams' }),
    result: () => z.strictObject({ versions: z.array(WsTemplateVersion) }).meta({ id: 'WsTemplateVersionsResult' }),
  }),
};
