import { wordsOf } from '../../../protocol/words-of.ts';
import { type Config, loadConfig, parseConfig } from '../config/config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** The settings, or the defaults if the file cannot be used. */
export async function checkConfig(home: string): Promise<{ config: Config; findings: Finding[] }> {
  const name = 'config.json';
  try {
    const { config, warnings } = await loadConfig(home);
    const unknown = warnings.map((text) => warning(name, text, 'Correct or remove it (docs/configuration.md).'));
    return { config, findings: unknown.length > 0 ? unknown : [ok(name, 'every setting is known')] };
  } catch (error) {
    const defaults = parseConfig('{}', name).config;
    return { config: defaults, findings: [problem(name, wordsOf(error), 'Correct it (docs/configuration.md).')] };
  }
}
