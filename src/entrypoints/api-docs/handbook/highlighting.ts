import highlighter from 'highlight.js/lib/core';
import apache from 'highlight.js/lib/languages/apache';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

// Not `http`: of the body it would try every language.
const LANGUAGES = { apache, go, html: xml, java, js: javascript, json, php, python, ruby, sh: bash, yaml };

for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** The code as HTML, with classes for its parts; undefined for `text`, which has none. Throws for a language that is not in the list. */
export function highlighted(code: string, language: string): string | undefined {
  if (language === 'text') return undefined;
  if (!Object.hasOwn(LANGUAGES, language)) throw new Error(`Samples in ${language} cannot be shown.`);
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}
