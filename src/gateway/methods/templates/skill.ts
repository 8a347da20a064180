import type { SkillSummary, skillContracts } from '../../../../protocol/methods/templates/skill.ts';
import type { PromptTemplate } from '../../../../protocol/methods/templates/template.ts';
import type { WsTemplate } from '../../../../protocol/methods/templates/wstemplate.ts';
import type { Handlers } from '../../call.ts';
import type { Templates } from '../../templates/templates.ts';

export const skillMethods = ({
  prompts,
  ofWorkstreams,
}: Pick<Templates, 'prompts' | 'ofWorkstreams'>): Handlers<keyof typeof skillContracts> => ({
  'skill.list': async () => {
    const [texts, settings] = await Promise.all([prompts.list(), ofWorkstreams.list()]);
    return { skills: [...texts.map(ofPrompt), ...settings.filter(({ enabled }) => enabled).map(ofSettings)] };
  },
});

const ofPrompt = ({ name, category, isDefault, origin, createdBy }: PromptTemplate): SkillSummary => ({
  name,
  category,
  description: '',
  tags: [],
  isDefault,
  activation: isDefault ? 'default' : 'named',
  origin,
  author: createdBy,
  version: '1',
});

const ofSettings = ({ name, description, createdBy, version }: WsTemplate): SkillSummary => ({
  name,
  category: 'general',
  description,
  tags: [],
  isDefault: false,
  activation: 'named',
  origin: 'manual',
  author: createdBy,
  version: String(version),
});
