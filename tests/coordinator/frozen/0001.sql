--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alembic_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);


--
-- Name: invites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invites (
    code character varying(64) NOT NULL,
    study character varying(100) NOT NULL,
    site character varying(100) NOT NULL,
    expires_at double precision NOT NULL,
    token character varying(64)
);


--
-- Name: proposals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.proposals (
    study character varying(100) NOT NULL,
    round integer NOT NULL,
    site character varying(100) NOT NULL,
    x bytea NOT NULL,
    best bytea,
    reward double precision
);


--
-- Name: sites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sites (
    study character varying(100) NOT NULL,
    site character varying(100) NOT NULL,
    has_left boolean NOT NULL,
    token character varying(64)
);


--
-- Name: studies; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.studies (
    study character varying(100) NOT NULL,
    agreement text NOT NULL,
    rounds_closed integer NOT NULL,
    deadline double precision,
    opened_at double precision
);


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.alembic_version (version_num) FROM stdin;
0001
\.


--
-- Data for Name: invites; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.invites (code, study, site, expires_at, token) FROM stdin;
9e15680d457a8aecec04a43ffcb12e9ed600275e81890f467a458534c2e3c3b0	frozen	lab-a	1800604800	25bd75f3df3bc293d302be216e76eab396b7d0d664f380490019b2ae5c0dafed
02de5a27641b43ddc58517e9caa151355a45a3e25fbe42b804098e6307b72ae3	frozen	lab-b	1800604800	\N
\.


--
-- Data for Name: proposals; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.proposals (study, round, site, x, best, reward) FROM stdin;
frozen	0	lab-a	\\xf3bd068300000000bc9651f300000000	\\xafb0daf200000000a02fd44f00000000	0.14415961271963373
frozen	0	lab-b	\\x461f5f6c000000003351e4d300000000	\\x032cb28c00000000321d0e0700000000	0.4091991363691613
frozen	1	lab-a	\\x2f3ce6c0000000009bc2c38900000000	\\xa876d6c900000000242d9e4d00000000	0.32973171649909216
frozen	1	lab-b	\\x0c70187400000000828e502200000000	\\x85a415340000000093f7264300000000	0.40311298644712923
frozen	2	lab-a	\\x31e617c0000000004ddec84700000000	\\xd79711fb00000000752a2ff600000000	0.48519097443163506
frozen	2	lab-b	\\x64d58bb900000000dcd78d8a00000000	\\x747d20290000000029084df800000000	0.2768912040453708
frozen	3	lab-a	\\x21121d8400000000685ea91d00000000	\\x5fb4d4c600000000cac8ed9c00000000	0.6234897555375004
\.


--
-- Data for Name: sites; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sites (study, site, has_left, token) FROM stdin;
frozen	lab-b	f	\N
frozen	lab-a	f	25bd75f3df3bc293d302be216e76eab396b7d0d664f380490019b2ae5c0dafed
\.


--
-- Data for Name: studies; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.studies (study, agreement, rounds_closed, deadline, opened_at) FROM stdin;
frozen	{"name": "frozen", "space": {"parameters": {"a": {"type": "float", "low": 0.0, "high": 1.0}, "b": {"type": "float", "low": -5.0, "high": 5.0}}, "constraints": []}, "sites": ["lab-a", "lab-b"], "horizon": 6, "budgets": {"lab-a": 6, "lab-b": 6}, "rule": "leader", "graph": "complete", "shares_best": true, "quorum": 2}	3	3600	1800000000
\.


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: invites pk_invites; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT pk_invites PRIMARY KEY (code);


--
-- Name: proposals pk_proposals; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT pk_proposals PRIMARY KEY (study, round, site);


--
-- Name: sites pk_sites; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT pk_sites PRIMARY KEY (study, site);


--
-- Name: studies pk_studies; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.studies
    ADD CONSTRAINT pk_studies PRIMARY KEY (study);


--
-- Name: sites uq_sites_token; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT uq_sites_token UNIQUE (token);


--
-- Name: invites fk_invites_sites; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT fk_invites_sites FOREIGN KEY (study, site) REFERENCES public.sites(study, site);


--
-- Name: proposals fk_proposals_sites; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT fk_proposals_sites FOREIGN KEY (study, site) REFERENCES public.sites(study, site);


--
-- Name: sites fk_sites_studies; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT fk_sites_studies FOREIGN KEY (study) REFERENCES public.studies(study);


--
-- PostgreSQL database dump complete
--


