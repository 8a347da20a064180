/** A folder with a SKILL.md. */
interface SkillFolder {
  /** The name of the folder. */
  folder: string;
  /** Its SKILL.md. */
  text: string;
}

const skill = (folder: string, head: string, body = '\n# Steps\n\nDo it.\n'): SkillFolder => ({
  folder,
  text: `---\n${head}\n---${body}`,
});
/** A valid skill with this name, also as its folder. */
const named = (name: string, written = name): SkillFolder => skill(name, `name: ${written}\ndescription: Does it.`);
/** Further lines after a name and a description. */
const withLines = (...lines: string[]): SkillFolder =>
  skill('tidy', ['name: tidy', 'description: Does it.', ...lines].join('\n'));
const described = (written: string): SkillFolder => skill('tidy', `name: tidy\ndescription: ${written}`);
const raw = (folder: string, text: string): SkillFolder => ({ folder, text });

/** What authors write: half of it is valid. A test compares the verdicts with those of the reference validator. */
export const hundredFolders: readonly SkillFolder[] = [
  // Names that are allowed.
  named('pdf-processing'),
  named('data-analysis'),
  named('a'),
  named('0'),
  named('2024', '"2024"'),
  named('2024'),
  named('a1-b2-c3'),
  named('x'.repeat(64)),
  named('мой-навык'),
  named('技能'),
  named('café'),
  named('cafe\u0301'),
  skill('café', 'name: cafe\u0301\ndescription: Does it.'),
  skill('ab', 'name: ａｂ\ndescription: Does it.'),
  named('null'),
  named('true'),
  named('tidy', "'tidy'"),
  named('tidy', '  tidy  '),
  named('tidy', '"  tidy  "'),
  named('tidy', '>-\n  tidy'),
  named('tidy', '[tidy]'),
  named('tidy', '!!str tidy'),
  named('5', '5.0'),
  named('16', '0x10'),
  // Descriptions that are allowed.
  described('x'.repeat(1024)),
  described('"It says: do it"'),
  described('|\n  Two\n  lines.'),
  described('>\n  Folded\n  lines.'),
  described('42'),
  described('true'),
  described('null'),
  described('[one, two]'),
  described('{one: two}'),
  described('2024-01-01'),
  described('<script>alert(1)</script>'),
  described('Do it # a comment'),
  described('Splits --- here'),
  // Fields that are allowed.
  withLines('license: Apache-2.0'),
  withLines('license: 5'),
  withLines('compatibility: Requires git'),
  withLines(`compatibility: ${'x'.repeat(500)}`),
  withLines('compatibility: ""'),
  withLines('metadata:', '  author: someone', '  version: "1.0"'),
  withLines('metadata: text'),
  withLines('metadata: [1, 2]'),
  withLines('allowed-tools: Bash(git:*) Read'),
  withLines('allowed-tools:', '  - Bash(git:*)', '  - Read'),
  withLines('# a comment', '', 'license: MIT'),
  skill('tidy', 'name: tidy\ndescription: Does it.', ''),
  raw('tidy', '---\r\nname: tidy\r\ndescription: Does it.\r\n---\r\nText'),
  // Names that are not.
  named('PDF-Processing'),
  named('-pdf'),
  named('pdf-'),
  named('pdf--processing'),
  named('pdf_processing'),
  named('pdf processing'),
  named('pdf.processing'),
  named('x'.repeat(65)),
  named('2024-01-01'),
  named('5.5'),
  named('naïve!'),
  named('スキル'),
  named('مهارة'),
  named('ΑΒΓ'),
  named('αβγ'),
  named('tidy', '""'),
  named('tidy', '"   "'),
  named('tidy', 'Tidy'),
  named('Tidy', 'tidy'),
  named('other', 'tidy'),
  named('tidy', ''),
  named('tidy', '[tidy, tidy]'),
  named('tidy', '{a: b}'),
  named('tidy', '../tidy'),
  named('tidy', '{toString: x}'),
  named('tidy', '"ti\\u200bdy"'),
  named('🧹'),
  // Descriptions and fields that are not.
  described('x'.repeat(1025)),
  described('""'),
  described('"   "'),
  described('{toString: x, valueOf: y}'),
  described('a: b'),
  described('"not closed'),
  described('[one'),
  described('*unknown'),
  described('@reserved'),
  skill('tidy', 'name: tidy'),
  skill('tidy', 'description: Does it.'),
  skill('tidy', ''),
  withLines('name: tidy'),
  withLines(`compatibility: ${'x'.repeat(501)}`),
  withLines('compatibility: 5'),
  withLines('compatibility:', '  - git'),
  withLines('version: 1.0'),
  withLines('model: fast', 'argument-hint: "[file]"'),
  withLines('\tlicense: MIT'),
  // Files that are not.
  raw('tidy', ''),
  raw('tidy', '# Tidy\n\nDo it.\n'),
  raw('tidy', '---\nname: tidy\ndescription: Does it.\n'),
  raw('tidy', '\ufeff---\nname: tidy\ndescription: Does it.\n---\n'),
];
