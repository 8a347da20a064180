import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import { skillCases } from './skill-cases.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  key(): string;
}

/** A successful call of each method about templates and skills. */
export function templateCases({ call, key }: Caller) {
  const newTemplate = () => call('template.create', { name: `template-${key().slice(0, 8)}`, content: 'A' });

  async function newWsTemplate(): Promise<string> {
    return (await call('wstemplate.create', { name: `desk-${key().slice(0, 8)}`, tokenBudget: 1_000 })).wsTemplateId;
  }

  return {
    ...skillCases({ call, key }),
    'template.list': () => call('template.list', {}),
    'template.details': () => call('template.details', {}),
    'template.create': () => newTemplate(),
    'template.update': async () =>
      call('template.update', { templateId: (await newTemplate()).templateId, content: 'B' }),
    'template.delete': async () => call('template.delete', { templateId: (await newTemplate()).templateId }),
    'wstemplate.list': () => call('wstemplate.list', {}),
    'wstemplate.details': () => call('wstemplate.details', {}),
    'wstemplate.get': async () => call('wstemplate.get', { wsTemplateId: await newWsTemplate() }),
    'wstemplate.create': () => newWsTemplate(),
    'wstemplate.update': async () => call('wstemplate.update', { wsTemplateId: await newWsTemplate(), enabled: false }),
    'wstemplate.delete': async () => call('wstemplate.delete', { wsTemplateId: await newWsTemplate() }),
    'wstemplate.versions': async () => call('wstemplate.versions', { wsTemplateId: await newWsTemplate() }),
  };
}
