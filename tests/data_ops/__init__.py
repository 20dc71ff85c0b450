"""Operations on data, compared with what MindSpore answers."""
