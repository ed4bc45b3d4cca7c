import highlighter from 'highlight.js/lib/core';
import apache from 'highlight.js/lib/languages/apache';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import yaml from 'highlight.js/lib/languages/yaml';

const LANGUAGES = { apache, go, http, java, js: javascript, json, php, python, ruby, sh: bash, yaml };

for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** The code as HTML, with classes for its parts. Throws for a language that is not in the list above; `text` has no parts. */
export const highlighted = (code: string, language: string): string | undefined =>
  language === 'text' ? undefined : highlighter.highlight(code, { language, ignoreIllegals: true }).value;
