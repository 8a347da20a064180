import { templateEndpoints } from '../../../protocol/http/template.ts';
import type { Result } from '../../../protocol/index.ts';
import { bind } from '../bind.ts';
import { iso } from '../iso.ts';

const toTemplate = (template: Result<'template.create'>) => ({
  template_id: template.templateId,
  name: template.name,
  category: template.category,
  content: template.content,
  variables: template.variables,
  is_default: template.isDefault,
  org_id: 'default',
  created_by: template.createdBy,
  origin: template.origin,
  mcp_server: template.mcpServer,
  readonly: template.origin === 'mcp',
  created: iso(template.createdAtMs),
  updated: iso(template.updatedAtMs),
});

const asText = (variables: string | readonly unknown[] | undefined) =>
  typeof variables === 'object' ? JSON.stringify(variables) : variables;

export const templateRoutes = [
  bind(templateEndpoints.list, 'template.list', {
    params: () => ({}),
    reply: ({ templates }) => ({
      templates: templates.map(({ name, category, isDefault, origin }) => ({
        name,
        category,
        is_default: isDefault,
        origin,
      })),
    }),
  }),
  bind(templateEndpoints.details, 'template.details', {
    params: () => ({}),
    reply: ({ templates }) => ({ templates: templates.map(toTemplate) }),
  }),
  bind(templateEndpoints.create, 'template.create', {
    params: ({ name, content, category, variables, is_default }) => ({
      name,
      content,
      category,
      variables: asText(variables),
      isDefault: is_default,
    }),
    reply: toTemplate,
  }),
  bind(templateEndpoints.update, 'template.update', {
    params: ({ template_id, name, content, category, variables, is_default }) => ({
      templateId: template_id,
      name,
      content,
      category,
      variables: asText(variables),
      isDefault: is_default,
    }),
    reply: toTemplate,
  }),
  bind(templateEndpoints.remove, 'template.delete', {
    params: ({ template_id }) => ({ templateId: template_id }),
    reply: ({ status }) => ({ status }),
  }),
];
