import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty } from '../../frames.ts';

const AtMs = z.int().min(0);
const TemplateId = NonEmpty.max(64);
const Origin = z.enum(['manual', 'mcp']);

/** The longest text of a template. */
export const MAX_TEMPLATE_CHARS = 32_768;

/** A prompt template without its text. */
const TemplateSummary = z
  .strictObject({ name: NonEmpty, category: z.string(), isDefault: z.boolean(), origin: Origin })
  .meta({ id: 'TemplateSummary' });

/** A text for the system prompt of new conversations. */
export const PromptTemplate = z
  .strictObject({
    templateId: z.string(),
    name: NonEmpty,
    category: z.string(),
    content: z.string(),
    /** A JSON array, as text. */
    variables: z.string(),
    /** Conversations that name no template begin with it. */
    isDefault: z.boolean(),
    /** The user or principal that created it. */
    createdBy: z.string(),
    /** `mcp`: a tool server provides it, and nobody can change it. */
    origin: Origin,
    mcpServer: z.string(),
    createdAtMs: AtMs,
    updatedAtMs: AtMs,
  })
  .meta({ id: 'PromptTemplate' });
export type PromptTemplate = z.infer<typeof PromptTemplate>;

const fields = {
  content: z.string().max(MAX_TEMPLATE_CHARS).optional(),
  category: z.string().max(64).optional(),
  variables: z.string().max(8_192).optional(),
  isDefault: z.boolean().optional(),
};

/** Texts for the system prompt of new conversations. */
export const templateContracts = {
  'template.list': contract({
    summary: 'The prompt templates in the order of their names, without their texts.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'TemplateListParams' }),
    result: () => z.strictObject({ templates: z.array(TemplateSummary) }).meta({ id: 'TemplateListResult' }),
  }),
  'template.details': contract({
    summary: 'The prompt templates in the order of their names, with their texts.',
    scope: 'approve',
    permission: 'admin.templates',
    params: () => z.strictObject({}).meta({ id: 'TemplateDetailsParams' }),
    result: () => z.strictObject({ templates: z.array(PromptTemplate) }).meta({ id: 'TemplateDetailsResult' }),
  }),
  'template.create': contract({
    summary: 'Add a prompt template.',
    scope: 'approve',
    permission: 'admin.templates',
    audit: { action: 'template.create', id: 'templateId' },
    params: () =>
      z.strictObject({ name: z.string().max(256).optional(), ...fields }).meta({ id: 'TemplateCreateParams' }),
    result: () => PromptTemplate,
  }),
  'template.update': contract({
    summary: 'Change a prompt template. Conversations that have begun keep the earlier text.',
    scope: 'approve',
    permission: 'admin.templates',
    audit: { action: 'template.update', id: 'templateId' },
    serial: ({ templateId }) => `template ${templateId}`,
    params: () =>
      z
        .strictObject({ templateId: TemplateId, name: z.string().max(256).optional(), ...fields })
        .meta({ id: 'TemplateUpdateParams' }),
    result: () => PromptTemplate,
  }),
  'template.delete': contract({
    summary: 'Delete a prompt template. Workstreams that named it keep its text.',
    scope: 'approve',
    permission: 'admin.templates',
    audit: { action: 'template.delete', id: 'templateId' },
    params: () => z.strictObject({ templateId: TemplateId }).meta({ id: 'TemplateDeleteParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'TemplateDeleteResult' }),
  }),
};
