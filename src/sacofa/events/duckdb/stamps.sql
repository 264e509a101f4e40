-- Times in text and in numbers. DuckDB parses ISO 8601 itself. Each other notation is split by one
-- pattern and rewritten as ISO 8601. The value of a cell depends on that cell alone.

-- The number that a text is, compared by its double, and by its digits if those tie.
CREATE OR REPLACE MACRO text_number(c) AS CASE WHEN try_cast(trim(c) AS DECIMAL(38, 9)) IS NOT NULL
    THEN {'double': try_cast(c AS DOUBLE), 'exact': try_cast(trim(c) AS DECIMAL(38, 9))} END;

-- A double as microseconds since 1970, by its size alone; missing where it is no time. The sizes of
-- seconds, milliseconds, microseconds and nanoseconds since 1979, and of dates written as 20251231
-- or 20251231140500, are far apart. Days that a spreadsheet counts are not far from other numbers.
CREATE OR REPLACE MACRO number_time(n) AS CASE
    WHEN n >= 3e8 AND n < 1e10 THEN try_cast(round(n * 1e6) AS BIGINT)
    WHEN n >= 3e11 AND n < 1e13 THEN try_cast(round(n * 1e3) AS BIGINT)
    WHEN n >= 3e14 AND n < 1e16 THEN try_cast(round(n) AS BIGINT)
    WHEN n >= 3e17 AND n < 1e19 THEN try_cast(round(n / 1e3) AS BIGINT)
    WHEN n BETWEEN 19000101 AND 21001231
        THEN epoch_us(try_strptime(try_cast(try_cast(n AS BIGINT) AS VARCHAR), '%Y%m%d'))
    WHEN n BETWEEN 19000101000000 AND 21001231235959
        THEN epoch_us(try_strptime(try_cast(try_cast(n AS BIGINT) AS VARCHAR), '%Y%m%d%H%M%S'))
END;

-- A double in its declared unit as microseconds since 1970; missing far outside all calendars.
CREATE OR REPLACE MACRO whole_micros(n) AS CASE WHEN abs(n) < 2e17 THEN try_cast(n AS BIGINT) END;
CREATE OR REPLACE MACRO declared_time(n, form) AS whole_micros(round(CASE form
    WHEN 'epoch' THEN n * 1e6 WHEN 'epoch-ms' THEN n * 1e3 WHEN 'epoch-us' THEN n
    -- Rounded to the millisecond, because a third of a day has no exact binary form.
    WHEN 'excel' THEN round((n - 25569) * 86400000) * 1e3 END));

-- The text of a moment in memory, whatever the declared format of text: a single other value turns
-- a column of moments into one of objects.
CREATE OR REPLACE MACRO moment_text(c) AS CASE
    WHEN regexp_matches(c, '^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?(\+00)?)?$')
    THEN try_cast(c AS TIMESTAMPTZ) END;

-- Years of two digits are those from 1970 to 2069.
CREATE OR REPLACE MACRO year_of(y) AS CASE WHEN len(y) = 4 THEN y::INTEGER
    WHEN y::INTEGER >= 70 THEN 1900 + y::INTEGER ELSE 2000 + y::INTEGER END;

-- Months by the first three letters of their English and German names.
CREATE OR REPLACE MACRO month_of(name) AS CASE left(name, 3)
    WHEN 'jan' THEN 1 WHEN 'jän' THEN 1 WHEN 'feb' THEN 2 WHEN 'mar' THEN 3 WHEN 'mär' THEN 3
    WHEN 'mrz' THEN 3 WHEN 'apr' THEN 4 WHEN 'may' THEN 5 WHEN 'mai' THEN 5 WHEN 'jun' THEN 6
    WHEN 'jul' THEN 7 WHEN 'aug' THEN 8 WHEN 'sep' THEN 9 WHEN 'oct' THEN 10 WHEN 'okt' THEN 10
    WHEN 'nov' THEN 11 WHEN 'dec' THEN 12 WHEN 'dez' THEN 12 END;

-- The time of day in ISO 8601, of its parts.
CREATE OR REPLACE MACRO clock_of(p) AS CASE WHEN p['hour'] = '' THEN ''
    WHEN p['minute'] = '' AND p['half'] = '' THEN 'none'
    ELSE printf(' %02d:%s:%s.%s%s',
        CASE WHEN p['half'] = '' THEN p['hour']::INTEGER
            WHEN p['hour']::INTEGER NOT BETWEEN 1 AND 12 THEN 99
            WHEN p['half'][1] = 'p' THEN p['hour']::INTEGER % 12 + 12
            ELSE p['hour']::INTEGER % 12 END,
        lpad(p['minute'], 2, '0'), lpad(p['sec'], 2, '0'),
        coalesce(nullif(p['fraction'], ''), '0'),
        CASE WHEN p['zone'] IN ('', 'z', 'utc', 'gmt') THEN '+00'
            WHEN len(p['zone']) = 2 THEN p['zone'][1] || '0' || p['zone'][2]
            ELSE p['zone'] END) END;

-- The parts of a text that begins with a date: hour, minute, second, fraction, half of the day and
-- offset follow, or nothing. If the pattern does not match, all parts are empty. The separator of
-- hours and minutes is given.
CREATE OR REPLACE MACRO parts_of(c, date, mark, names) AS regexp_extract(lower(trim(c)),
    '^' || date || '(?:(?:\s*,\s*|\s+|t)(\d{1,2})(?:' || mark || '(?:' || mark
    || '(?:[.,](\d{1,9}))?)?)?\s*([ap]\.?m\.?)?(?:\s*uhr)?\s*'
    || '(z|utc|gmt|[+-]\d{1,2}(?::?\d{2})?)?)?\s*$',
    list_concat(names, ['hour', 'minute', 'sec', 'fraction', 'half', 'zone']));
CREATE OR REPLACE MACRO iso_of(p, month, day) AS CASE WHEN p['y'] <> '' THEN try_cast(
    printf('%04d-%s-%s', year_of(p['y']), month::VARCHAR, day) || clock_of(p) AS TIMESTAMPTZ) END;

-- Dates as 3/4/2025, as 3 April 2025, as April 3, 2025, as 2025/4/3 and as 20250403. A weekday is
-- redundant. A pattern cannot require that a separator is repeated.
CREATE OR REPLACE MACRO numbers_time(c, ordered) AS list_transform([
    parts_of(c, '(\d{1,2})([./-])(\d{1,2})([./-])(\d{4}|\d{2})', '[:.](\d{1,2})',
        ['a', 'mark', 'b', 'again', 'y'])],
    lambda p: CASE WHEN p['y'] = '' OR p['mark'] <> p['again'] THEN NULL
        ELSE list_transform([p['mark'] = '.' OR ordered = 'day'
                OR (ordered = 'either' AND p['b']::INTEGER <= 12)], lambda first: iso_of(p,
            CASE WHEN first THEN p['b'] ELSE p['a'] END,
            CASE WHEN first THEN p['a'] ELSE p['b'] END))[1] END)[1];
CREATE OR REPLACE MACRO named_time(c, date, names) AS list_transform(
    [parts_of(c, '(?:[a-zäöü]{2,10}\.?,?\s+)?' || date, '[:.](\d{1,2})', names)],
    lambda p: iso_of(p, month_of(p['name']), p['d']))[1];
CREATE OR REPLACE MACRO year_first_time(c, date, mark) AS list_transform(
    [parts_of(c, date, mark, ['y', 'm', 'd'])], lambda p: iso_of(p, p['m'], p['d']))[1];
CREATE OR REPLACE MACRO written_time(c, ordered) AS coalesce(
    numbers_time(c, ordered),
    named_time(c,
        '(\d{1,2})(?:st|nd|rd|th|\.)?[\s-]*(?:of\s+)?([a-zä]{3,10})\.?[\s,-]+(\d{4}|\d{2})',
        ['d', 'name', 'y']),
    named_time(c, '([a-zä]{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})', ['name', 'd', 'y']),
    year_first_time(c, '(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})', '[:.](\d{1,2})'),
    year_first_time(c, '(\d{4})(\d{2})(\d{2})', ':?(\d{2})'));

-- The form of most stamps that are not ISO 8601, for a faster parser with the same result.
-- strptime alone accepts more than its pattern, such as 9:5 for %H:%M and 205 for %Y.
CREATE OR REPLACE MACRO common_time(c, ordered) AS CASE WHEN regexp_matches(c,
    '^\d{1,2}(?:\.\d{1,2}\.|/\d{1,2}/|-\d{1,2}-)\d{4}(?: \d{1,2}:\d\d(?::\d\d)?)?$')
    THEN coalesce(try_strptime(c, ['%d.%m.%Y %H:%M:%S', '%d.%m.%Y %H:%M', '%d.%m.%Y']),
        CASE WHEN ordered <> 'month' THEN try_strptime(c, ['%d/%m/%Y %H:%M:%S',
            '%d-%m-%Y %H:%M:%S', '%d/%m/%Y %H:%M', '%d-%m-%Y %H:%M', '%d/%m/%Y', '%d-%m-%Y']) END,
        CASE WHEN ordered <> 'day' THEN try_strptime(c, ['%m/%d/%Y %H:%M:%S',
            '%m-%d-%Y %H:%M:%S', '%m/%d/%Y %H:%M', '%m-%d-%Y %H:%M', '%m/%d/%Y', '%m-%d-%Y']) END
        )::TIMESTAMPTZ END;

-- Text in any supported notation as a time; missing if it is not a time. `iso` is the text parsed
-- as ISO 8601. A year of two digits, as in 1/2/25, would be taken for that of an emperor.
CREATE OR REPLACE MACRO text_time(c, iso, ordered) AS CASE
    WHEN iso >= '0100-01-01'::TIMESTAMPTZ THEN iso
    WHEN iso IS NOT NULL AND regexp_matches(c, '^\s*[-+]?\d{4}|^[a-z-]') THEN iso
    WHEN c IS NULL OR try_cast(c AS DECIMAL(38, 9)) IS NOT NULL THEN NULL
    WHEN common_time(c, ordered) IS NOT NULL THEN common_time(c, ordered)
    ELSE written_time(c, ordered) END;

-- What a stamp reveals about the order of day and month (see DAY_FIRST and the others); 0 if
-- nothing. A stamp is informative if exchanging day and month changes its time.
CREATE OR REPLACE MACRO day_month(c, iso) AS CASE
    WHEN NOT (contains(c, '/') OR contains(c, '-')) THEN 0
    WHEN c IS NULL OR iso >= '0100-01-01' THEN 0
    -- All kinds of blanks are removed, as when a stamp is parsed.
    ELSE list_transform([regexp_extract(trim(c),
        '^\s*(\d{1,2})([/-])(\d{1,2})([/-])(?:\d{4}|\d{2})(?:[^\d]|$)',
        ['a', 'mark', 'b', 'again'])],
        lambda p: CASE WHEN p['a'] = '' OR p['mark'] <> p['again'] THEN 0
            WHEN p['a']::INTEGER > 12 AND p['b']::INTEGER <= 12 THEN 1
            WHEN p['b']::INTEGER > 12 AND p['a']::INTEGER <= 12 THEN 2
            WHEN p['a']::INTEGER <= 12 AND p['a']::INTEGER <> p['b']::INTEGER THEN 4
            ELSE 0 END)[1] END;

-- A date and a time of day in two cells, as one text; missing if both are missing. A missing or
-- unreadable half is a question mark. Spreadsheets and frames add midnight to a date without a time
-- of day; a date that includes another one would give the joined time stamp two of them.
CREATE OR REPLACE MACRO bare_day(c) AS regexp_replace(trim(c),
    '[ T]+(?:00?[:.]00(?:[:.]00(?:[.,]0+)?)?|12:00(?::00)?\s*AM)\s*(?:Z|UTC|[+-]00(?::?00)?)?$',
    '', 'i');
CREATE OR REPLACE MACRO joined_time(day, hour, clock) AS CASE
    WHEN day IS NOT NULL OR hour IS NOT NULL THEN coalesce(
        CASE WHEN NOT contains(bare_day(day), ':') THEN nullif(bare_day(day), '') END, '?')
    || ' ' || coalesce(clock, '?') END;

-- A time of day without the date that spreadsheets and frames add to it.
CREATE OR REPLACE MACRO bare_clock(c) AS regexp_replace(
    trim(c), '^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[ T]+', '');

-- A time of day by a declared pattern: numbers do not keep the zeros that it needs.
CREATE OR REPLACE MACRO padded_clock(c, width) AS CASE
    WHEN regexp_full_match(c, '\d+') AND len(c) <= width THEN lpad(c, width, '0')
    ELSE nullif(c, '') END;

-- A time of day with colons, missing if invalid: digits or a part of a day, whose patterns are
-- given, or with separators or AM/PM.
CREATE OR REPLACE MACRO free_clock(c, digits, fraction) AS CASE
    WHEN regexp_full_match(c, digits) AND len(c) <= 6
    THEN lpad(c, 6, '0')[1:2] || ':' || lpad(c, 6, '0')[3:4] || ':' || lpad(c, 6, '0')[5:6]
    -- Rounded to the millisecond, because a third of a day has no exact binary form.
    WHEN regexp_full_match(c, fraction) THEN (TIME '00:00:00' + to_milliseconds(
        round(try_cast(replace(c, ',', '.') AS DOUBLE) * 86400000)::BIGINT))::VARCHAR
    WHEN regexp_matches(c, '^(?:\d{1,2}[:.]\d{2}|\d{1,2}\s*[AaPp]\.?[Mm])') THEN c END;

-- Whether a time of day can be read in two ways: 930 is 9:30 or 0:09:30, 0.5 noon or 0:05.
CREATE OR REPLACE MACRO two_ways(c, is_fraction) AS coalesce(
    (regexp_full_match(c, '\d{1,4}') AND try_cast(c AS INTEGER) <> 0)
    OR (NOT is_fraction AND regexp_full_match(c, '0[.,]\d{1,2}')), false);
