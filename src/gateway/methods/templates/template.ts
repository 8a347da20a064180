import { GatewayError } from '../../../../protocol/errors.ts';
import type { templateContracts } from '../../../../protocol/methods/templates/template.ts';
import type { Call, Handlers } from '../../call.ts';
import type { PromptTemplates } from '../../templates/prompt-templates.ts';
import { checkContent, checkName, checkVariables } from '../../templates/template-input.ts';

export const templateMethods = (templates: PromptTemplates): Handlers<keyof typeof templateContracts> => ({
  'template.list': async () => ({
    templates: (await templates.list()).map(({ name, category, isDefault, origin }) => ({
      name,
      category,
      isDefault,
      origin,
    })),
  }),
  'template.details': async () => ({ templates: await templates.list() }),
  'template.create': ({ name = '', content = '', category = 'general', variables = '[]', isDefault = false }, call) => {
    const fields = {
      name: checkName(name),
      content: checkContent(content),
      category,
      variables: checkVariables(variables),
      isDefault,
    };
    return templates.create(fields, {
      by: editorOf(call),
      also: (id) => call.audited({ id, name: fields.name, isDefault }),
    });
  },
  'template.update': ({ templateId, name, content, category, variables, isDefault }, call) => {
    const change = {
      ...(name !== undefined && { name: checkName(name) }),
      ...(content !== undefined && { content: checkContent(content) }),
      ...(category !== undefined && { category }),
      ...(variables !== undefined && { variables: checkVariables(variables) }),
      ...(isDefault !== undefined && { isDefault }),
    };
    if (Object.keys(change).length === 0) throw new GatewayError('INVALID_REQUEST', 'No fields to update');
    return templates.update(templateId, change, call.audited({ changed: Object.keys(change) }));
  },
  'template.delete': async ({ templateId }, call) => {
    await templates.remove(templateId, call.audited());
    return { status: 'ok' };
  },
});

/** Who makes a change, as templates show it. */
export const editorOf = ({ principal }: Pick<Call, 'principal'>): string => principal?.userId ?? principal?.id ?? '';
