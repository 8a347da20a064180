import { z } from 'zod';

/** Without user, password and query: parameters are added to it, and administrators see it. */
const isPlainAddress = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '' && !/[?#]/.test(text);
};

const Address = z
  .string()
  .max(2_048)
  .refine(isPlainAddress, 'must be an http or https address without a user, password or query');

/** Where skills of others come from. */
export const SkillsConfig = z.object({
  discoveryUrl: Address.default('https://skills.sh').describe('The directory of skills that administrators search.'),
  githubApiUrl: Address.default('https://api.github.com').describe('Lists the files of repositories with skills.'),
  githubRawUrl: Address.default('https://raw.githubusercontent.com').describe('Has the files of these repositories.'),
});
