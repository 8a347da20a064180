import { GatewayError } from '../../../../protocol/errors.ts';
import type { Params } from '../../../../protocol/index.ts';
import { allowsCalls, type wstemplateContracts } from '../../../../protocol/methods/templates/wstemplate.ts';
import { digestOf } from '../../../agent/project/instructions.ts';
import { requireFreshProof } from '../../auth/fresh-proof.ts';
import type { Handlers } from '../../call.ts';
import { checkName, checkNotification } from '../../templates/template-input.ts';
import type { Templates } from '../../templates/templates.ts';
import { NEW_WS_TEMPLATE, type WsTemplateFields } from '../../templates/ws-templates.ts';
import { editorOf } from './template.ts';

type TemplateSources = Pick<Templates, 'prompts' | 'ofWorkstreams'>;

export const wstemplateMethods = (templates: TemplateSources): Handlers<keyof typeof wstemplateContracts> => {
  const { ofWorkstreams } = templates;
  return {
    'wstemplate.list': async () => ({
      templates: (await ofWorkstreams.list())
        .filter(({ enabled }) => enabled)
        .map(({ name, description, model }) => ({ name, description, model })),
    }),
    'wstemplate.details': async () => ({ templates: await ofWorkstreams.list() }),
    'wstemplate.get': ({ wsTemplateId }) => ofWorkstreams.get(wsTemplateId),
    'wstemplate.create': async ({ name = '', ...asked }, call) => {
      const fields = { ...NEW_WS_TEMPLATE, ...(await toFields(asked, templates)), name: checkName(name) };
      const also = (id: string) => call.audited({ id, name: fields.name });
      return ofWorkstreams.create(fields, { by: editorOf(call), also });
    },
    'wstemplate.update': async ({ wsTemplateId, ...asked }, call) => {
      const before = await ofWorkstreams.get(wsTemplateId);
      const change = await toFields(asked, templates);
      if (Object.keys(change).length === 0) throw new GatewayError('INVALID_REQUEST', 'No fields to update');
      const after = { ...before, ...change };
      // An enabled template that allows calls allows them for whatever else it says.
      if (after.enabled && allowsCalls(after)) requireFreshProof(call.principal);
      const also = call.audited({ name: before.name, changed: Object.keys(change) });
      return ofWorkstreams.update(before, change, { by: editorOf(call), also });
    },
    'wstemplate.delete': async ({ wsTemplateId }, call) => {
      const { name } = await ofWorkstreams.get(wsTemplateId);
      await ofWorkstreams.remove(wsTemplateId, call.audited({ name }));
      return { status: 'ok' };
    },
    'wstemplate.versions': async ({ wsTemplateId }) => ({ versions: await ofWorkstreams.versions(wsTemplateId) }),
  };
};

/** The fields that were given, checked. Null empties a number. */
async function toFields(
  asked: Omit<Params<'wstemplate.create'>, never>,
  { prompts }: Pick<Templates, 'prompts'>,
): Promise<Partial<WsTemplateFields>> {
  const { name, promptTemplate, notifyOnComplete, tokenBudget, ...others } = asked;
  const plain = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  return {
    ...plain,
    ...(name !== undefined && { name: checkName(name) }),
    ...(tokenBudget !== undefined && { tokenBudget: tokenBudget ?? 0 }),
    ...(notifyOnComplete !== undefined && { notifyOnComplete: checkNotification(notifyOnComplete) }),
    ...(promptTemplate !== undefined && {
      promptTemplate,
      promptTemplateHash: await hashOf(promptTemplate, prompts),
    }),
  };
}

/** Throws INVALID_REQUEST for a name without a template. */
async function hashOf(name: string, prompts: Templates['prompts']): Promise<string> {
  if (name === '') return '';
  const found = await prompts.findByName(name);
  if (found) return digestOf(found.content);
  throw new GatewayError('INVALID_REQUEST', `Prompt template not found: ${name.slice(0, 128)}`);
}
