import { oas } from '@stoplight/spectral-rulesets';

export default {
  extends: [oas],
  rules: {
    // Contract §3 and §5: these paths end with a slash.
    'path-keys-no-trailing-slash': 'off',
  },
};
