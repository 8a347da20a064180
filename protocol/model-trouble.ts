import type { Notice } from './notice.ts';

const MODEL_TROUBLE: readonly Notice['code'][] = [
  'model_key_missing',
  'model_key_refused',
  'model_unreachable',
  'model_unusable',
];

/** Says why the model may not answer. Apart from the schema, which would bring zod into the page. */
export const isModelTrouble = ({ code }: Notice): boolean => MODEL_TROUBLE.includes(code);
