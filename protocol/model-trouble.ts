import type { Notice } from './notice.ts';

const MODEL_TROUBLE: readonly Notice['code'][] = [
  'model_key_missing',
  'model_key_refused',
  'model_unreachable',
  'model_unusable',
];

/** Whether a notice says why the model may not answer. Separate from the schema, which would bring zod into the page. */
export const isModelTrouble = ({ code }: Notice): boolean => MODEL_TROUBLE.includes(code);
